//! The checkpoints of one reaction on its subject: whoever writes one has seen the last one.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use uuid::Uuid;

use super::{
    ReactionError,
    checkpoint::{Checkpoint, Claim, Progress, Task},
};
use crate::{
    event::{
        self, EventCandidate, EventId, EventType, InvalidSubjectPart, Metadata, Subject,
        SubjectPart,
    },
    store::{AppendError, EventStore, Precondition, StoreError, latest_event},
};

const EVENT_TYPE: EventType = EventType::declared("io.es-framework.ReactionCheckpointedEvent");
/// An instance that says nothing for so long while it makes a call is taken to be gone.
pub(super) const HOLD: Duration = Duration::from_secs(10);
/// How often it says that it is there.
pub(super) const BEAT: Duration = Duration::from_secs(3);

/// The checkpoints of one reaction.
#[derive(Debug)]
pub(super) struct Checkpoints {
    store: Arc<dyn EventStore>,
    source: Arc<str>,
    subject: Subject,
    instance: Uuid,
    /// The event that holds the last one, as far as is known.
    last: Option<EventId>,
    known: Option<Checkpoint>,
    /// Whether a write failed, so that nobody knows which one is the last.
    is_stale: bool,
    /// What was done here and is not noted yet.
    done: Vec<Task>,
    /// Another instance's claim, and since when it has been seen as it is. No clock but that of this
    /// process says when it has been silent for too long.
    watched: Option<(Claim, Instant)>,
}

/// Who makes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claimed {
    /// This instance.
    Here,
    /// Another one, at this moment.
    Elsewhere,
    /// It was made.
    Done,
    /// Others wrote meanwhile: look again.
    Unclear,
}

impl Checkpoints {
    pub(super) fn of(
        reaction: &'static str,
        store: Arc<dyn EventStore>,
        source: Arc<str>,
        instance: Uuid,
    ) -> Result<Self, InvalidSubjectPart> {
        let subject = Subject::from_parts(&[
            SubjectPart::Text("/es-framework/reactions/"),
            SubjectPart::Field("name", &reaction),
        ])?;
        Ok(Self {
            store,
            source,
            subject,
            instance,
            last: None,
            known: None,
            is_stale: false,
            done: Vec::new(),
            watched: None,
        })
    }

    /// Reads the last one, if there is one.
    pub(super) async fn load(&mut self) -> Result<Option<&Progress>, ReactionError> {
        let latest = latest_event(&*self.store, self.subject.clone(), false).await?;
        self.last = latest.as_ref().map(|event| event.id);
        self.known = latest.map(|event| event.payload()).transpose()?;
        self.is_stale = false;
        let known = self.known.as_ref();
        self.done
            .retain(|task| !known.is_some_and(|known| known.has_noted(task)));
        Ok(self.progress())
    }

    /// How far the last one is that is known.
    pub(super) fn progress(&self) -> Option<&Progress> {
        self.known.as_ref().map(|known| &known.progress)
    }

    /// Whether some instance is beyond an event.
    pub(super) fn has_taken(&self, event: EventId) -> bool {
        self.progress().is_some_and(|known| known.has_taken(event))
    }

    /// Whether something was done or left out, here or elsewhere.
    pub(super) fn is_done(&self, task: &Task) -> bool {
        self.done.contains(task) || self.is_noted(task)
    }

    /// Whether every instance can know that something was done or left out.
    pub(super) fn is_noted(&self, task: &Task) -> bool {
        let known = self.known.as_ref();
        known.is_some_and(|known| known.has_noted(task))
    }

    /// Something was done or is left out; the next one that is written says so.
    pub(super) fn add(&mut self, task: Task) {
        self.done.push(task);
    }

    /// It is not left out after all.
    pub(super) fn remove(&mut self, task: &Task) {
        self.done.retain(|done| done != task);
    }

    /// Whether others wait for the next one.
    pub(super) fn is_owed(&self) -> bool {
        !self.done.is_empty() || self.own_claim().is_some()
    }

    /// Writes one, and whether it was. Where nobody knows whether it was, the next one finds out.
    ///
    /// A claim of this instance ends with it, and that of another one stays.
    pub(super) async fn save(&mut self, progress: &Progress) -> Result<bool, ReactionError> {
        let claim = self.others_claim().cloned();
        self.write(progress, claim).await
    }

    /// Has this instance make a call, unless another one makes it or has made it.
    pub(super) async fn claim(
        &mut self,
        task: &Task,
        progress: &Progress,
    ) -> Result<Claimed, ReactionError> {
        if self.is_done(task) {
            return Ok(Claimed::Done);
        }
        if self.is_held_elsewhere() {
            return Ok(Claimed::Elsewhere);
        }
        let own = self.own_claim().filter(|claim| claim.is_for(task));
        let claim = match own {
            Some(own) => own.again(HOLD),
            None => Claim::new(self.instance, task.clone(), HOLD),
        };
        match self.write(progress, Some(claim)).await? {
            true => Ok(Claimed::Here),
            false => Ok(Claimed::Unclear),
        }
    }

    /// Says once more that this instance is there, and whether the call is still its own.
    pub(super) async fn hold(&mut self, time: Duration) -> Result<bool, ReactionError> {
        loop {
            let (Some(own), Some(progress)) = (self.own_claim(), self.progress()) else {
                return Ok(false);
            };
            let (claim, progress) = (own.again(time), progress.clone());
            if self.write(&progress, Some(claim)).await? {
                return Ok(true);
            }
        }
    }

    fn own_claim(&self) -> Option<&Claim> {
        let claim = self.known.as_ref()?.claim.as_ref();
        claim.filter(|claim| claim.is_by(self.instance))
    }

    fn others_claim(&self) -> Option<&Claim> {
        let claim = self.known.as_ref()?.claim.as_ref();
        claim.filter(|claim| !claim.is_by(self.instance))
    }

    fn is_held_elsewhere(&mut self) -> bool {
        let Some(claim) = self.others_claim() else {
            return false;
        };
        match &self.watched {
            Some((watched, since)) if watched == claim => since.elapsed() < claim.hold(),
            _ => {
                self.watched = Some((claim.clone(), Instant::now()));
                true
            }
        }
    }

    async fn write(&mut self, own: &Progress, claim: Option<Claim>) -> Result<bool, ReactionError> {
        if self.is_stale {
            self.load().await?;
            return Ok(false);
        }
        let known = self.progress().filter(|known| known.is_beyond(own));
        let progress = known.unwrap_or(own).clone();
        let noted = self.known.iter().flat_map(|known| &known.done);
        let done = noted
            .chain(&self.done)
            .filter(|task| !progress.covers(task));
        let checkpoint = Checkpoint {
            done: done.cloned().collect(),
            progress,
            claim,
        };
        let precondition = match self.last {
            Some(last) => Precondition::SubjectIsOnEventId(self.subject.clone(), last),
            None => Precondition::SubjectIsPristine(self.subject.clone()),
        };
        let candidate = EventCandidate {
            source: Arc::clone(&self.source),
            subject: self.subject.clone(),
            event_type: EVENT_TYPE,
            data: event::encode(&Metadata::default(), &checkpoint)?,
            trace: None,
        };
        match self.store.append(vec![candidate], vec![precondition]).await {
            Ok(recorded) => {
                self.last = recorded.last().map(|event| event.id).or(self.last);
                self.known = Some(checkpoint);
                self.done.clear();
                Ok(true)
            }
            Err(AppendError::Conflict(_)) => {
                self.load().await?;
                Ok(false)
            }
            Err(error) => {
                self.is_stale = true;
                Err(store_error(error).into())
            }
        }
    }
}

fn store_error(error: AppendError) -> StoreError {
    match error {
        AppendError::Store(error) => error,
        AppendError::Unknown { address, reason } => StoreError::Unavailable { address, reason },
        AppendError::Schema(error) => StoreError::Refused(error.to_string()),
        AppendError::Conflict(error) => StoreError::Refused(error.to_string()),
    }
}
