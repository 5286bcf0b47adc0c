//! Follows the event store for some read models at once.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::sync::watch;

use super::{
    Database, DatabaseError, Progress, Table,
    ahead::{BATCH, Batch, Batches},
    batch::{self, Noted, Taking},
    rebuild::Rebuild,
};
use crate::{
    event::{EventId, RecordedEvent, Subject, Upcasters},
    store::{EventStore, ObserveOptions, StoreError, newest_id},
    telemetry::traces,
};

/// How long events gather between two transactions once the rebuild is over, and at the most before
/// one of a rebuild. A transaction costs far more than a row: taking each commit of a busy store by
/// itself took a third of the machine.
const GATHER: Duration = Duration::from_millis(15);

/// A read model that is followed.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) table: Table,
    pub(super) progress: Progress,
    /// The events that an operator has it leave out.
    pub(super) skipped: BTreeSet<EventId>,
}

impl Followed {
    /// Whether its rows can take the place of those that answer queries.
    fn is_built(&self) -> bool {
        self.table.is_beside && self.progress.is_rebuilt()
    }

    /// Tells the traces of events that follow from commands that they were taken.
    fn trace(&self, events: &[RecordedEvent], begin: SystemTime) {
        let model = self.table.model;
        let own = |event: &&RecordedEvent| model.events.contains(&event.event_type.as_str());
        let what = format!("project {}", model.name);
        traces::record_handling(&what, events.iter().filter(own), begin);
    }
}

/// Follows the event store for some read models.
#[derive(Debug)]
pub(super) struct Follower {
    pub(super) store: Arc<dyn EventStore>,
    pub(super) database: Database,
    pub(super) upcasters: Upcasters,
    pub(super) models: Vec<Followed>,
}

#[derive(Debug, thiserror::Error)]
enum FollowError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("the event store ended the observation")]
    Ended,
}

/// Why following has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// There is nothing to follow for any more.
    Stopped,
    /// Another process may write by now.
    LeaseLost,
    /// Rows that were built beside are up to date.
    Built,
    /// It was told to.
    Told,
}

/// Tells followers to end between two batches. One that is cut off in the middle of a batch leaves a
/// write behind that nobody waits for.
pub(super) type End = watch::Receiver<bool>;

async fn told(end: &mut End) {
    if end.wait_for(|is_told| *is_told).await.is_err() {
        // Who could tell is gone.
        std::future::pending::<()>().await;
    }
}

impl Follower {
    /// Follows until all of its read models have stopped, somebody else may write, rows that are
    /// built beside are up to date, or it is told to end.
    pub(super) async fn run(self, mut end: End) -> Ended {
        let mut pause = Pause::default();
        while self.going().next().is_some() {
            let before = self.position();
            let error = match self.follow(&mut end).await {
                Ok(ended) => return ended,
                Err(error) => error,
            };
            if self.position() > before {
                pause = Pause::default();
            }
            tracing::warn!(%error, "the read models do not follow the event store; they try again");
            for model in self.going() {
                model.progress.troubled(&error.to_string());
            }
            if matches!(error, FollowError::Database(DatabaseError::Lost)) {
                return Ended::LeaseLost;
            }
            tokio::select! {
                () = pause.wait() => {}
                () = told(&mut end) => return Ended::Told,
            }
        }
        Ended::Stopped
    }

    fn going(&self) -> impl Iterator<Item = &Followed> {
        self.models
            .iter()
            .filter(|model| !model.progress.is_stopped())
    }

    /// The event that all of its read models have taken.
    fn position(&self) -> Option<EventId> {
        self.going()
            .map(|model| model.progress.position())
            .min()
            .flatten()
    }

    async fn follow(&self, end: &mut End) -> Result<Ended, FollowError> {
        let newest = newest_id(&*self.store).await?;
        let mut rebuild = Rebuild::new(newest, self.position());
        rebuild.note(self.position(), self.going());
        let options = ObserveOptions::recursive_after(self.position());
        let events = self.store.observe(Subject::root(), options);
        let mut batches = Batches::new(self, events);
        while !self.models.iter().any(Followed::is_built) {
            if !rebuild.is_over() {
                // Small transactions cost the more the faster the events come.
                let full = batches.fill(rebuild.newest());
                let _ = tokio::time::timeout(GATHER, full).await;
            }
            let Batch {
                events,
                noted,
                failure,
                ..
            } = tokio::select! {
                batch = batches.next() => batch,
                () = told(end) => return Ok(Ended::Told),
            };
            let mut taken = std::pin::pin!(self.take_noted(&events, noted));
            tokio::select! {
                taken = &mut taken => taken?,
                // A rebuild reads the next events meanwhile.
                () = batches.fill(rebuild.newest()), if !rebuild.is_over() => taken.await?,
            }
            rebuild.note(self.position(), self.going());
            match failure {
                None => {}
                Some(Some(error)) => return Err(error.into()),
                Some(None) => return Err(FollowError::Ended),
            }
            if self.going().next().is_none() {
                return Ok(Ended::Stopped);
            }
            // A batch that is half full says that more are waiting.
            if rebuild.is_over() && events.len() < BATCH / 2 {
                tokio::time::sleep(GATHER).await;
            }
        }
        Ok(Ended::Built)
    }

    /// What one of its read models needs to take events.
    pub(super) fn taking<'a>(&'a self, model: &'a Followed) -> Taking<'a> {
        Taking {
            database: &self.database,
            table: &model.table,
            upcasters: &self.upcasters,
            skipped: &model.skipped,
        }
    }

    /// Has each of its read models take the events that are new to it.
    pub(super) async fn take(&self, events: &[RecordedEvent]) -> Result<(), DatabaseError> {
        self.take_noted(events, Vec::new()).await
    }

    /// The same of events that its read models, in their order, have noted.
    async fn take_noted(
        &self,
        events: &[RecordedEvent],
        noted: Vec<Option<Noted>>,
    ) -> Result<(), DatabaseError> {
        let noted = noted.into_iter().chain(std::iter::repeat_with(|| None));
        let models = self.models.iter().zip(noted);
        for (model, noted) in models.filter(|(model, _)| !model.progress.is_stopped()) {
            let position = model.progress.position();
            let new = events.partition_point(|event| Some(event.id) <= position);
            let events = events.get(new..).unwrap_or_default();
            let begin = SystemTime::now();
            let reached = |position| model.progress.reached(Some(position));
            let taken = batch::take(self.taking(model), events, noted, reached).await?;
            // A rebuild is not a part of the traces of long ago.
            if taken.position.is_some() && model.progress.is_rebuilt() {
                model.trace(events, begin);
            }
            if let Some(refused) = taken.refused {
                tracing::error!(
                    read_model = model.table.model.name,
                    event = %refused.id,
                    subject = %refused.subject,
                    error = refused.reason,
                    "a read model stops at an event that it cannot take; the others go on"
                );
                model.progress.stopped(refused);
            }
        }
        Ok(())
    }
}

/// The pauses after failures double from the first to the last.
#[derive(Debug)]
pub(super) struct Pause(Duration);

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(5);

impl Default for Pause {
    fn default() -> Self {
        Self(FIRST_PAUSE)
    }
}

impl Pause {
    pub(super) async fn wait(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = self.0.saturating_mul(2).min(LAST_PAUSE);
    }
}
