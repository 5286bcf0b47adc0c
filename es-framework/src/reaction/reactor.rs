//! One reaction at work: it follows the event store, does what follows, and notes how far it is.

use std::{
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use jiff::Timestamp;

use super::{
    Begin, ReactionError,
    checkpoint::{Checkpoint, Checkpoints},
    deadlines::{Deadlines, Due},
    error::Remedy,
    perform::{Consequence, Performer},
};
use crate::{
    event::{EventId, EventType, RecordedEvent, Subject},
    store::{Bound, ObserveOptions, ReadOptions, StoreError, latest_event},
};

/// How many events are taken before the clock is looked at again.
const BATCH: usize = 500;
/// How long events gather between two looks: a look for each commit of a busy store costs more than
/// what follows from its events.
const GATHER: Duration = Duration::from_millis(15);
/// How often the clock is looked at: one that stands still is set without notice.
const TICK: Duration = Duration::from_millis(200);
/// How often a reaction that has something to do notes how far it is.
const SAVE_EVERY: Duration = Duration::from_secs(1);
/// After so many events that were no matter of it, a reaction notes how far it is, too.
const SAVE_AFTER: u64 = 50_000;

/// Why a reaction does not follow the event store any more.
pub(super) enum Failed {
    /// An event that trying again does not help with.
    At(Box<RecordedEvent>, ReactionError),
    /// The event store.
    Store(ReactionError),
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
            Self::At(_, error) | Self::Store(error) => error,
        }
    }
}

/// One reaction at work.
#[derive(Debug)]
pub(super) struct Reactor {
    performer: Performer,
    followed: Vec<EventType>,
    checkpoints: Checkpoints,
    deadlines: Deadlines,
    position: Option<EventId>,
    /// The newest event of the moment at which a deadline was first seen to be due: what cancels it
    /// may be among those up to there.
    first_to: Option<Option<EventId>>,
    saved: Instant,
    passed: u64,
    /// Whether there is something that a restart would do again.
    is_dirty: bool,
    pub(super) has_moved: bool,
}

impl Reactor {
    /// A reaction where it ended.
    pub(super) async fn begin(performer: Performer) -> Result<Self, ReactionError> {
        let ground = &performer.ground;
        let name = performer.reaction.name;
        let (store, source) = (Arc::clone(&ground.store), Arc::clone(&ground.source));
        let checkpoints = Checkpoints::of(name, store, source).map_err(ReactionError::Name)?;
        let mut reactor = Self {
            followed: performer.followed(),
            performer,
            checkpoints,
            deadlines: Deadlines::default(),
            position: None,
            first_to: None,
            saved: Instant::now(),
            passed: 0,
            is_dirty: false,
            has_moved: false,
        };
        match reactor.checkpoints.load().await? {
            Some(checkpoint) => reactor.resume(&checkpoint).await?,
            None if reactor.performer.reaction.begin == Begin::New => {
                reactor.position = reactor.newest().await?;
                reactor.save().await?;
            }
            None => {}
        }
        reactor.show();
        Ok(reactor)
    }

    /// Finds the deadlines that are open.
    async fn resume(&mut self, checkpoint: &Checkpoint) -> Result<(), ReactionError> {
        self.position = checkpoint.position;
        self.deadlines = Deadlines::default();
        let (Some(from), Some(to)) = (checkpoint.open_from, checkpoint.position) else {
            return Ok(());
        };
        let options = ReadOptions {
            lower_bound: Some(Bound::Inclusive(from)),
            upper_bound: Some(Bound::Inclusive(to)),
            event_types: self.followed.clone(),
            ..ReadOptions::recursive()
        };
        let mut events = self.performer.ground.store.read(Subject::root(), options);
        while let Some(event) = events.next().await {
            let event = event?;
            // One that has no meaning any more stopped the reaction already when it came.
            if let Ok(meaning) = self.performer.meaning(&event) {
                let deadlines = meaning.deadlines.into_iter();
                let open = deadlines.filter(|(at, _)| *at > checkpoint.settled);
                self.set(&event, &meaning.cancelled, open.collect());
            }
        }
        Ok(())
    }

    fn set(
        &mut self,
        event: &RecordedEvent,
        cancelled: &[usize],
        deadlines: Vec<(Timestamp, Consequence)>,
    ) {
        for step in cancelled {
            self.deadlines.cancel(&event.subject, *step);
        }
        for (at, Consequence { step, view }) in deadlines {
            let event_id = event.id;
            let due = Due {
                at,
                event: event_id,
                step,
                view,
            };
            self.deadlines.open(due, &event.subject);
        }
    }

    /// Reacts until something is in the way.
    pub(super) async fn follow(&mut self) -> Result<Infallible, Failed> {
        let options = ObserveOptions::recursive_after(self.position);
        let store = Arc::clone(&self.performer.ground.store);
        let mut batches = store.observe(Subject::root(), options).ready_chunks(BATCH);
        loop {
            let batch = tokio::time::timeout(TICK, batches.next()).await;
            match batch {
                Ok(Some(batch)) => {
                    let is_last = batch.len() < BATCH;
                    for event in batch {
                        self.take(event?).await?;
                    }
                    if is_last {
                        tokio::time::sleep(GATHER).await;
                    }
                }
                Ok(None) => {
                    let address = store.description();
                    let reason = "it ended the observation".to_owned();
                    return Err(StoreError::Unavailable { address, reason }.into());
                }
                Err(_) => {}
            }
            self.meet_deadlines().await?;
            self.save_in_time().await?;
            self.show();
        }
    }

    /// Takes everything that is stored, and what follows from that, until there is nothing left to
    /// do at this time.
    pub(super) async fn settle(&mut self) -> Result<(), Failed> {
        loop {
            let before = self.position;
            let options = ReadOptions {
                lower_bound: before.map(Bound::Exclusive),
                ..ReadOptions::recursive()
            };
            let store = Arc::clone(&self.performer.ground.store);
            let mut events = store.read(Subject::root(), options);
            while let Some(event) = events.next().await {
                self.take(event?).await?;
            }
            self.meet_deadlines().await?;
            if self.position == before {
                return Ok(());
            }
        }
    }

    async fn take(&mut self, event: RecordedEvent) -> Result<(), Failed> {
        let mut calls = false;
        if self.followed.contains(&event.event_type) {
            let meaning = match self.performer.meaning(&event) {
                Ok(meaning) => meaning,
                Err(error) => return Err(Failed::At(event.into(), error)),
            };
            self.set(&event, &meaning.cancelled, meaning.deadlines);
            for consequence in &meaning.at_once {
                self.perform(&event, *consequence).await?;
            }
            self.is_dirty = true;
            let mut at_once = meaning.at_once.into_iter();
            calls = at_once.any(|consequence| self.performer.is_call(consequence));
        }
        self.position = Some(event.id);
        self.passed = self.passed.saturating_add(1);
        self.has_moved = true;
        if calls {
            self.save().await?;
        }
        Ok(())
    }

    async fn perform(
        &mut self,
        event: &RecordedEvent,
        consequence: Consequence,
    ) -> Result<(), Failed> {
        let performed = self.performer.perform(event, consequence).await;
        performed.map_err(|error| match error.remedy() {
            Remedy::Wait => Failed::Store(error),
            Remedy::TryAgain | Remedy::None => Failed::At(event.clone().into(), error),
        })
    }

    /// Does what is due, after everything that might cancel it was taken.
    async fn meet_deadlines(&mut self) -> Result<(), Failed> {
        if self.deadlines.lacks_the_next() {
            let checkpoint = self.checkpoint();
            self.resume(&checkpoint).await?;
        }
        let now = self.performer.ground.services.clock().now();
        if self.deadlines.due(now).is_none() {
            return Ok(());
        }
        let first_to = match self.first_to {
            Some(first_to) => first_to,
            None => self.newest().await?,
        };
        self.first_to = Some(first_to);
        if self.position < first_to {
            return Ok(());
        }
        while let Some(due) = self.deadlines.due(now) {
            self.meet(due).await?;
            self.deadlines.close(due);
            self.is_dirty = true;
            let Due { step, view, .. } = due;
            if self.performer.is_call(Consequence { step, view }) {
                self.save().await?;
            }
        }
        self.first_to = None;
        Ok(())
    }

    async fn meet(&mut self, due: Due) -> Result<(), Failed> {
        let only = Some(Bound::Inclusive(due.event));
        let options = ReadOptions {
            lower_bound: only,
            upper_bound: only,
            ..ReadOptions::recursive()
        };
        let store = &self.performer.ground.store;
        let event = store.read(Subject::root(), options).next().await;
        let Some(event) = event.transpose()? else {
            return Ok(());
        };
        let Due { step, view, .. } = due;
        self.perform(&event, Consequence { step, view }).await
    }

    async fn newest(&self) -> Result<Option<EventId>, ReactionError> {
        let store = &*self.performer.ground.store;
        let newest = latest_event(store, Subject::root(), true).await?;
        Ok(newest.map(|event| event.id))
    }

    fn checkpoint(&self) -> Checkpoint {
        let now = self.performer.ground.services.clock().now();
        Checkpoint {
            position: self.position,
            settled: self.deadlines.settled(now),
            open_from: self.deadlines.oldest(),
        }
    }

    async fn save_in_time(&mut self) -> Result<(), ReactionError> {
        let is_time = self.is_dirty && self.saved.elapsed() >= SAVE_EVERY;
        if is_time || self.passed >= SAVE_AFTER {
            self.save().await?;
        }
        Ok(())
    }

    async fn save(&mut self) -> Result<(), ReactionError> {
        let checkpoint = self.checkpoint();
        self.checkpoints.save(&checkpoint).await?;
        self.saved = Instant::now();
        self.passed = 0;
        self.is_dirty = false;
        Ok(())
    }

    fn show(&self) {
        let name = self.performer.reaction.name;
        self.performer.statuses.change(name, |status| {
            status.position = self.position;
            status.open_deadlines = self.deadlines.len();
            status.next_deadline = self.deadlines.next();
            status.trouble = None;
        });
    }
}
