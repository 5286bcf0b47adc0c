//! One reaction at work: it follows the event store, does what follows, and notes how far it is.

use std::{
    convert::Infallible,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use jiff::Timestamp;

use super::{
    ReactionError, StartPosition,
    checkpoint::Progress,
    checkpoints::Checkpoints,
    deadlines::{Deadlines, Due},
    perform::{Consequence, Meaning, Performer},
    stopped::{Failed, Stop},
};
use crate::{
    event::{EventId, EventType, RecordedEvent, Subject},
    store::{Bound, ObserveOptions, ReadOptions, StoreError, newest_id},
};

/// How many events are taken before the clock is looked at again.
const BATCH: usize = 500;
/// After how many of them other threads may have the processor, of which commands need it first.
const TURN: usize = 32;
/// How long events gather between two looks: a look for each commit of a busy store costs more than
/// what follows from its events.
const GATHER: Duration = Duration::from_millis(15);
/// How often the clock is looked at: one that stands still is set without notice.
const TICK: Duration = Duration::from_millis(200);
/// How often a reaction that has something to do notes how far it is.
const SAVE_EVERY: Duration = Duration::from_secs(1);
/// After so many events that were no matter of it, a reaction notes how far it is, too.
const SAVE_AFTER: u64 = 50_000;

/// One reaction at work.
#[derive(Debug)]
pub(super) struct Reactor {
    pub(super) performer: Performer,
    followed: Vec<EventType>,
    pub(super) checkpoints: Checkpoints,
    pub(super) deadlines: Deadlines,
    pub(super) position: Option<EventId>,
    /// The newest event of the moment at which a deadline was first seen to be due: what cancels it
    /// may be among those up to there.
    pub(super) first_to: Option<Option<EventId>>,
    saved: Instant,
    passed: u64,
    /// Whether there is something that a restart would do again.
    pub(super) is_dirty: bool,
    pub(super) has_moved: bool,
}

impl Reactor {
    /// A reaction where it ended.
    pub(super) async fn begin(performer: Performer) -> Result<Self, ReactionError> {
        let ground = &performer.ground;
        let name = performer.reaction.name;
        let (store, source) = (Arc::clone(&ground.store), Arc::clone(&ground.source));
        let checkpoints =
            Checkpoints::of(name, store, source, ground.instance).map_err(ReactionError::Name)?;
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
        match reactor.checkpoints.load().await?.cloned() {
            Some(progress) => reactor.resume(&progress).await?,
            None if reactor.performer.reaction.begin == StartPosition::New => {
                reactor.position = newest_id(&*reactor.performer.ground.store).await?;
                reactor.save().await?;
            }
            None => {}
        }
        reactor.show();
        Ok(reactor)
    }

    /// Finds the deadlines that are open.
    pub(super) async fn resume(&mut self, progress: &Progress) -> Result<(), ReactionError> {
        self.position = progress.position;
        self.deadlines = Deadlines::default();
        let (Some(from), Some(to)) = (progress.open_from, progress.position) else {
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
            // One that has no meaning stopped the reaction already when it came.
            if let Ok(meaning) = self.performer.meaning(&event) {
                let deadlines = meaning.deadlines.into_iter();
                let open = deadlines.filter(|(at, _)| !progress.has_settled(*at, event.id));
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
                    for (number, event) in batch.into_iter().enumerate() {
                        if number.is_multiple_of(TURN) {
                            thread::yield_now();
                        }
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
        if self.followed.contains(&event.event_type) {
            let meaning = match self.performer.meaning(&event) {
                Ok(meaning) => meaning,
                // An operator has it left out.
                Err(_) if self.checkpoints.has_taken(event.id) => Meaning::default(),
                Err(error) => return Err(Stop::new(event, None, error).into()),
            };
            self.set(&event, &meaning.cancelled, meaning.deadlines);
            for consequence in meaning.at_once {
                self.perform(&event, consequence, None).await?;
            }
            self.is_dirty = true;
        }
        self.position = Some(event.id);
        self.passed = self.passed.saturating_add(1);
        self.has_moved = true;
        if self.checkpoints.is_owed() {
            self.note().await?;
        }
        Ok(())
    }

    /// How far this instance is, which knows what others have met.
    pub(super) fn progress(&mut self) -> Progress {
        if let Some(known) = self.checkpoints.progress() {
            let soon = jiff::SignedDuration::from_nanos(1);
            let last = known.settled.saturating_add(soon).unwrap_or(known.settled);
            let is_over =
                |due: &Due| known.has_taken(due.event) && known.has_settled(due.at, due.event);
            self.deadlines.close_until(last, is_over);
        }
        let now = self.performer.ground.services.clock().now();
        let (settled, settled_before) = self.deadlines.settled(now);
        Progress {
            position: self.position,
            settled,
            settled_before,
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

    /// Writes a checkpoint, unless another instance has come as far and nobody waits for it.
    pub(super) async fn save(&mut self) -> Result<(), ReactionError> {
        loop {
            let progress = self.progress();
            if self.checkpoints.save(&progress).await? {
                break;
            }
            let others = self.checkpoints.progress();
            let is_as_far = others.is_some_and(|others| others.position >= self.position);
            if is_as_far && !self.checkpoints.is_owed() {
                break;
            }
        }
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
