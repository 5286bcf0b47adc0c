//! A reaction that an event stopped: it waits until an operator, or what another instance notes, has
//! it go on.

use std::time::Duration;

use super::{ReactionError, Refused, checkpoint::Task, reactor::Reactor};
use crate::{
    event::RecordedEvent,
    operator::{ComponentKind, OperatorCommand, OperatorError, OperatorRequests, OperatorResult},
    store::StoreError,
};

/// How often a reaction that is stopped looks whether another instance is past the event.
const LOOK: Duration = Duration::from_secs(1);

/// Why a reaction does not follow the event store any more.
pub(super) enum Failed {
    /// An event that trying again does not help with.
    At(Box<Stop>),
    /// The event store.
    Store(ReactionError),
}

/// The event that stopped a reaction.
pub(super) struct Stop {
    event: RecordedEvent,
    /// What cannot be done; `None`, and the event has no meaning at all.
    task: Option<Task>,
    error: ReactionError,
}

impl Stop {
    pub(super) const fn new(
        event: RecordedEvent,
        task: Option<Task>,
        error: ReactionError,
    ) -> Self {
        Self { event, task, error }
    }

    fn refused(&self) -> Refused {
        Refused {
            id: self.event.id,
            subject: self.event.subject.clone(),
            reason: self.error.to_string(),
        }
    }
}

impl From<Stop> for Failed {
    fn from(stop: Stop) -> Self {
        Self::At(Box::new(stop))
    }
}

impl From<ReactionError> for Failed {
    fn from(error: ReactionError) -> Self {
        Self::Store(error)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error.into())
    }
}

impl Failed {
    pub(super) fn into_error(self) -> ReactionError {
        match self {
            Self::At(stop) => stop.error,
            Self::Store(error) => error,
        }
    }
}

impl Reactor {
    /// Says at which event it stops, and waits there.
    pub(super) async fn stand(mut self, stop: &Stop, requests: &mut OperatorRequests) {
        self.give_up().await;
        let _ = self.checkpoints.load().await;
        if self.is_past(stop) {
            return;
        }
        self.say(stop);
        loop {
            tokio::select! {
                request = requests.recv() => match request {
                    Some(request) if request.is_awaited() => {
                        let result = self.execute(request.command, stop).await;
                        let goes_on = result.is_ok();
                        if goes_on {
                            self.go_on();
                        }
                        request.respond(result);
                        if goes_on {
                            return;
                        }
                    }
                    Some(_) => {}
                    // Nobody can ask any more, but other instances go on.
                    None => tokio::time::sleep(LOOK).await,
                },
                () = tokio::time::sleep(LOOK) => {}
            }
            let looked = self.checkpoints.load().await.map(|_| ());
            if looked.is_ok() && self.is_past(stop) {
                let reaction = self.performer.reaction.name;
                tracing::info!(reaction, event = %stop.event.id, "a reaction goes on: another instance is past the event that stopped it");
                self.go_on();
                return;
            }
        }
    }

    /// Others may try now what this instance cannot do.
    async fn give_up(&mut self) {
        if self.checkpoints.is_owed()
            && let Err(error) = self.save().await
        {
            let reaction = self.performer.reaction.name;
            tracing::debug!(reaction, %error, "a claim is left to end by itself");
        }
    }

    async fn execute(&mut self, command: OperatorCommand, stop: &Stop) -> OperatorResult {
        let RecordedEvent { id, subject, .. } = &stop.event;
        let reaction = self.performer.reaction.name;
        match command {
            OperatorCommand::Rebuild => {
                return Err(OperatorError::CannotRebuild(reaction));
            }
            OperatorCommand::Retry => {
                tracing::warn!(reaction, event = %id, %subject, "an operator has the reaction take an event again");
            }
            OperatorCommand::Skip => {
                let saved = self.leave_out(stop).await;
                saved.map_err(|error| {
                    OperatorError::Failed(ComponentKind::Reaction, error.to_string())
                })?;
                tracing::warn!(reaction, event = %id, %subject, "an operator has the reaction leave out what it cannot do about an event");
            }
        }
        Ok(Some(stop.refused()))
    }

    /// Notes in the event store that something is not to be done, for every instance and every start.
    async fn leave_out(&mut self, stop: &Stop) -> Result<(), ReactionError> {
        match &stop.task {
            Some(task) => {
                self.checkpoints.add(task.clone());
                let saved = self.save().await;
                if saved.is_err() {
                    self.checkpoints.remove(task);
                }
                saved
            }
            None => {
                let before = self.position;
                self.position = before.max(Some(stop.event.id));
                let saved = self.save().await;
                if saved.is_err() {
                    self.position = before;
                }
                saved
            }
        }
    }

    fn is_past(&self, stop: &Stop) -> bool {
        match &stop.task {
            Some(task) => self.checkpoints.is_noted(task),
            None => self.checkpoints.has_taken(stop.event.id),
        }
    }

    fn say(&self, stop: &Stop) {
        let RecordedEvent { id, subject, .. } = &stop.event;
        let (name, error) = (self.performer.reaction.name, &stop.error);
        tracing::error!(reaction = name, event = %id, %subject, %error, "a reaction stops at an event that it cannot deal with; the others go on");
        let trouble = format!("it cannot deal with event {id} on {subject}: {error}");
        self.performer.statuses.change(name, |status| {
            status.position = self.position;
            status.trouble = Some(trouble);
            status.stopped_at = Some(stop.refused());
        });
    }

    fn go_on(&self) {
        let name = self.performer.reaction.name;
        self.performer.statuses.change(name, |status| {
            status.trouble = None;
            status.stopped_at = None;
        });
    }
}
