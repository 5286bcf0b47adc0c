//! Follows the event store for some read models at once.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use futures_util::StreamExt as _;

use super::{Database, DatabaseError, Progress, Table, batch};
use crate::{
    event::{EventId, RecordedEvent, Subject, Upcasters},
    store::{EventStore, ObserveOptions, StoreError, latest_event},
    telemetry::{milliseconds_since, traces},
};

/// How many events are folded into one transaction at the most.
const BATCH: usize = 2_000;
/// How long events gather between two transactions once the rebuild is over. A transaction costs far
/// more than a row: taking each commit of a busy store by itself took a third of the machine.
const GATHER: Duration = Duration::from_millis(15);
/// How often a rebuild says how far it is.
const REPORT: Duration = Duration::from_secs(5);

/// A read model that is followed.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) table: Table,
    pub(super) progress: Progress,
}

impl Followed {
    /// Tells the traces of events that follow from commands that they were taken.
    fn trace(&self, events: &[RecordedEvent], begin: SystemTime) {
        let model = self.table.model;
        let own = |event: &&RecordedEvent| model.events.contains(&event.event_type.as_str());
        let what = format!("project {}", model.name);
        traces::followed(&what, events.iter().filter(own), begin);
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
}

impl Follower {
    /// Follows until all of its read models have stopped, or somebody else may write.
    pub(super) async fn run(self) -> Ended {
        let mut pause = Pause::default();
        while self.going().next().is_some() {
            let before = self.position();
            let Err(error) = self.follow().await else {
                return Ended::Stopped;
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
            pause.wait().await;
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

    async fn follow(&self) -> Result<(), FollowError> {
        let newest = latest_event(&*self.store, Subject::root(), true).await?;
        let newest = newest.map(|event| event.id);
        let mut rebuild = Rebuild::of(self.position(), newest);
        rebuild.note(self);
        let options = ObserveOptions::recursive_after(self.position());
        let mut batches = self
            .store
            .observe(Subject::root(), options)
            .ready_chunks(BATCH);
        while let Some(batch) = batches.next().await {
            let mut events = Vec::with_capacity(batch.len());
            let mut failure = None;
            for event in batch {
                match event {
                    Ok(event) => events.push(event),
                    Err(error) => failure = Some(error),
                }
            }
            self.take(&events).await?;
            rebuild.note(self);
            failure.map_or(Ok(()), Err)?;
            if self.going().next().is_none() {
                return Ok(());
            }
            // A batch that is half full says that more are waiting.
            if rebuild.is_over && events.len() < BATCH / 2 {
                tokio::time::sleep(GATHER).await;
            }
        }
        Err(FollowError::Ended)
    }

    async fn take(&self, events: &[RecordedEvent]) -> Result<(), DatabaseError> {
        for model in self.going() {
            let position = model.progress.position();
            let new = events.partition_point(|event| Some(event.id) <= position);
            let events = events.get(new..).unwrap_or_default();
            let begin = SystemTime::now();
            let taken = batch::take(&self.database, &model.table, &self.upcasters, events).await?;
            if taken.position.is_some() {
                // A rebuild is not a part of the traces of long ago.
                if model.progress.is_rebuilt() {
                    model.trace(events, begin);
                }
                model.progress.reached(taken.position);
            }
            if let Some(refused) = taken.refused {
                let name = model.table.model.name;
                tracing::error!(
                    read_model = name,
                    event = %refused.id,
                    subject = %refused.subject,
                    error = refused.reason,
                    "a read model stops at an event that it cannot take; the others go on"
                );
                model.progress.stopped(refused.to_string());
            }
        }
        Ok(())
    }
}

/// The way to the last event that was stored when it began.
struct Rebuild {
    newest: Option<EventId>,
    is_over: bool,
    begin: Instant,
    from: Option<EventId>,
    reported: Instant,
}

impl Rebuild {
    fn of(from: Option<EventId>, newest: Option<EventId>) -> Self {
        let now = Instant::now();
        Self {
            newest,
            is_over: false,
            begin: now,
            from,
            reported: now,
        }
    }

    fn note(&mut self, follower: &Follower) {
        if self.is_over {
            return;
        }
        let position = follower.position();
        self.is_over = position >= self.newest;
        if self.is_over {
            for model in follower.going() {
                if !model.progress.is_rebuilt() {
                    model.progress.rebuilt();
                    let name = model.table.model.name;
                    let events = count(position).saturating_sub(count(self.from));
                    let milliseconds = milliseconds_since(self.begin);
                    tracing::info!(events, milliseconds, "the read model {name} is up to date");
                }
            }
        } else if self.reported.elapsed() >= REPORT {
            self.reported = Instant::now();
            self.report(position);
        }
    }

    /// Says how many events were taken, how fast, and how long the rest will take.
    fn report(&self, position: Option<EventId>) {
        let taken = count(position).saturating_sub(count(self.from));
        let left = count(self.newest).saturating_sub(count(position));
        let milliseconds = milliseconds_since(self.begin);
        let rate = taken
            .saturating_mul(1000)
            .checked_div(milliseconds)
            .unwrap_or(0);
        let seconds_left = left.checked_div(rate);
        tracing::info!(
            events_left = left,
            events_per_second = rate,
            seconds_left,
            "the read models are being rebuilt"
        );
    }
}

/// How many events there are up to this one.
fn count(id: Option<EventId>) -> u64 {
    id.map_or(0, |id| id.get().saturating_add(1))
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
