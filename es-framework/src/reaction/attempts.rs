//! A reaction does what follows from an event until it is done. OutgoingCommands are sent by every instance,
//! of which the event store lets one through; a call is made by the one that has claimed it.

use std::time::Duration;

use jiff::Timestamp;

use super::{
    ReactionError,
    checkpoint::Task,
    checkpoints::{BEAT, Checkpoints, Claimed, HOLD},
    error::Remedy,
    perform::Consequence,
    reactor::Reactor,
    stopped::{Failed, Stop},
};
use crate::event::RecordedEvent;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(60);
/// How often an instance looks whether another one has made a call.
const LOOK: Duration = Duration::from_millis(200);

impl Reactor {
    /// Does what follows, for as long as it takes.
    ///
    /// # Errors
    /// Trying again does not help.
    pub(super) async fn perform(
        &mut self,
        event: &RecordedEvent,
        consequence: Consequence,
        at: Option<Timestamp>,
    ) -> Result<(), Failed> {
        let task = self.performer.task(event.id, consequence, at);
        let (mut pause, mut attempts) = (FIRST_PAUSE, 0_u32);
        loop {
            let Err(error) = self.attempt(event, consequence, &task).await else {
                self.trouble(None);
                return Ok(());
            };
            attempts = match error.remedy() {
                Remedy::None => self.performer.reaction.attempts,
                Remedy::Wait => attempts,
                Remedy::TryAgain => attempts.saturating_add(1),
            };
            if attempts >= self.performer.reaction.attempts {
                return Err(Stop::new(event.clone(), Some(task), error).into());
            }
            let reaction = self.performer.reaction.name;
            tracing::warn!(reaction, event = %event.id, subject = %event.subject, %error, "a reaction tries again");
            self.trouble(Some(format!(
                "event {} on {}: {error}",
                event.id, event.subject
            )));
            self.wait(pause).await;
            pause = pause.saturating_mul(2).min(LAST_PAUSE);
        }
    }

    async fn attempt(
        &mut self,
        event: &RecordedEvent,
        consequence: Consequence,
        task: &Task,
    ) -> Result<(), ReactionError> {
        if self.checkpoints.is_done(task) {
            return Ok(());
        }
        if !self.performer.is_call(consequence) {
            return self.performer.attempt(event, consequence).await;
        }
        if !self.claim(task).await? {
            return Ok(());
        }
        tokio::select! {
            made = self.performer.attempt(event, consequence) => made?,
            () = keep(&mut self.checkpoints) => return Err(ReactionError::TakenOver),
        }
        self.checkpoints.add(task.clone());
        Ok(())
    }

    /// Waits until a call is this instance's to make, or was made.
    async fn claim(&mut self, task: &Task) -> Result<bool, ReactionError> {
        loop {
            let progress = self.progress();
            match self.checkpoints.claim(task, &progress).await? {
                Claimed::Here => return Ok(true),
                Claimed::Done => return Ok(false),
                Claimed::Unclear => {}
                Claimed::Elsewhere => {
                    tokio::time::sleep(LOOK).await;
                    self.checkpoints.load().await?;
                }
            }
        }
    }

    /// Waits, and keeps what is claimed for that time.
    async fn wait(&mut self, pause: Duration) {
        if pause > BEAT && self.checkpoints.is_owed() {
            // One that is not kept is claimed anew.
            let _ = self.checkpoints.hold(HOLD.saturating_add(pause)).await;
        }
        tokio::time::sleep(pause).await;
    }

    /// Writes a checkpoint that says what was called, whatever time the event store takes to be back:
    /// without it, the call is made again.
    pub(super) async fn note(&mut self) -> Result<(), ReactionError> {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.save().await {
                Err(error) if error.remedy() == Remedy::Wait => {
                    let reaction = self.performer.reaction.name;
                    tracing::warn!(reaction, %error, "a reaction cannot note what it has called; it tries again");
                    self.trouble(Some(error.to_string()));
                }
                saved => return saved,
            }
            self.wait(pause).await;
            pause = pause.saturating_mul(2).min(HOLD);
        }
    }

    fn trouble(&self, trouble: Option<String>) {
        let name = self.performer.reaction.name;
        let change = |status: &mut super::ReactionStatus| status.trouble = trouble;
        self.performer.statuses.change(name, change);
    }
}

/// Keeps a claim until another instance has it.
async fn keep(checkpoints: &mut Checkpoints) {
    loop {
        tokio::time::sleep(BEAT).await;
        match checkpoints.hold(HOLD).await {
            Ok(true) => {}
            Ok(false) => return,
            // A call that is on its way is not called off because of the event store.
            Err(error) => tracing::debug!(%error, "a claim is not kept"),
        }
    }
}
