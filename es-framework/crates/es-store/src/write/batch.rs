//! The preparation of a batch: all appends that share a commit are checked, numbered, dated and
//! chained, one after the other.

use std::collections::HashMap;

use jiff::Timestamp;

use super::queue::{AppendOutcome, QueuedAppend};
use crate::{
    Conflict, Precondition, PreconditionScope, StoreError, catalogue::Catalogue, schema::WorkBudget,
};
use es_event::{
    EventCandidate, EventId, EventTime, EventType, Hash, HashVersion, RecordedEvent, Subject,
};

/// The most steps of schema checks that the writer's thread does for one batch or one registration.
#[doc(hidden)]
pub const WRITER_STEPS: u64 = 1_000_000;

/// The end of the hash chain, to which the next event is added.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct ChainHead {
    /// The id of the next event; `None` when all ids are used.
    pub next: Option<EventId>,
    /// The hash of the last event.
    pub predecessor: Hash,
    /// The time of the last event.
    pub time: Timestamp,
}

impl ChainHead {
    /// The head of a store without events.
    pub const EMPTY: Self = Self {
        next: Some(EventId::FIRST),
        predecessor: Hash::ZERO,
        time: Timestamp::UNIX_EPOCH,
    };

    /// The id of the last event.
    fn last(&self) -> Option<EventId> {
        let next = self
            .next
            .map_or(EventId::MAX.saturating_add(1), EventId::get);
        EventId::new(next.checked_sub(1)?)
    }
}

/// Looks up the latest stored events, for preconditions. The events of the batch that is being
/// prepared are not stored yet.
#[doc(hidden)]
pub trait StoredEventLookup {
    /// The error of the storage.
    type Error;

    /// Returns the latest event of a subject.
    fn of_subject(&self, subject: &Subject) -> Result<Option<EventId>, Self::Error>;

    /// Returns the latest event of a subject and all subjects below it.
    fn of_subtree(&self, subject: &Subject) -> Result<Option<EventId>, Self::Error>;
}

/// Appends that share a commit. Their outcomes are decided and their events are numbered and chained,
/// but not stored yet.
#[doc(hidden)]
#[derive(Debug)]
pub struct ChainedAppends<'a> {
    catalogue: &'a Catalogue,
    hash_version: HashVersion,
    /// The budget for schemas that were registered while appends waited. All writes wait meanwhile.
    budget: WorkBudget,
    /// The end of the chain after this batch.
    pub head: ChainHead,
    time: EventTime,
    /// The latest event of each subject to which this batch writes.
    latest: HashMap<Subject, EventId>,
    /// The event types that no event before this batch has, each with its first event.
    pub new_types: Vec<(EventType, EventId)>,
    /// The result of each append once the batch is durable.
    pub outcomes: Vec<AppendOutcome>,
}

impl<'a> ChainedAppends<'a> {
    /// Prepares all appends, and takes their candidates. All events of a batch have one time,
    /// because they become durable together. The time never goes back, even if the clock does.
    pub fn prepare<L: StoredEventLookup>(
        mut head: ChainHead,
        hash_version: HashVersion,
        catalogue: &'a Catalogue,
        stored: &L,
        appends: &mut [QueuedAppend],
    ) -> Result<Self, L::Error> {
        head.time = head.time.max(Timestamp::now());
        let mut batch = Self {
            catalogue,
            hash_version,
            budget: WorkBudget::of(WRITER_STEPS),
            head,
            time: EventTime::from_timestamp(head.time),
            latest: HashMap::with_capacity(appends.len()),
            new_types: Vec::new(),
            outcomes: Vec::with_capacity(appends.len()),
        };
        for append in appends {
            let outcome = batch.append(stored, append)?;
            batch.outcomes.push(outcome);
        }
        Ok(batch)
    }

    /// The events to store, in order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &RecordedEvent> {
        self.outcomes.iter().flatten().flatten()
    }

    fn append<L: StoredEventLookup>(
        &mut self,
        stored: &L,
        append: &mut QueuedAppend,
    ) -> Result<AppendOutcome, L::Error> {
        // The caller has checked the schemas. Only a schema that was registered since is unchecked.
        let (candidates, known) = (&append.candidates, append.schemas);
        if let Err(conflict) =
            self.catalogue
                .check_against_schemas_since(candidates, known, &mut self.budget)
        {
            return Ok(Err(conflict.into()));
        }
        for (precondition, index) in append.preconditions.iter().zip(0..) {
            if !precondition.holds(self.latest_for(stored, precondition)?) {
                return Ok(Err(Conflict::at(index).into()));
            }
        }
        let candidates = std::mem::take(&mut append.candidates);
        let Some(recorded) = self.record(candidates) else {
            let full = StoreError::Full("every event id is taken".into());
            return Ok(Err(full.into()));
        };
        for event in &recorded {
            self.add_type(event);
            self.latest.insert(event.subject.clone(), event.id);
        }
        Ok(Ok(recorded))
    }

    /// Returns the latest event of the subject, subtree or store that a precondition is about.
    fn latest_for<L: StoredEventLookup>(
        &self,
        stored: &L,
        precondition: &Precondition,
    ) -> Result<Option<EventId>, L::Error> {
        match precondition.scope() {
            PreconditionScope::Store => Ok(self.head.last()),
            PreconditionScope::Subtree(subject) => {
                let in_batch = self
                    .events()
                    .rev()
                    .find(|event| event.subject.is_within(subject));
                in_batch.map_or_else(|| stored.of_subtree(subject), |event| Ok(Some(event.id)))
            }
            PreconditionScope::Subject(subject) => match self.latest.get(subject) {
                Some(id) => Ok(Some(*id)),
                None => stored.of_subject(subject),
            },
        }
    }

    fn add_type(&mut self, event: &RecordedEvent) {
        let event_type = &event.event_type;
        let is_in_batch = || self.new_types.iter().any(|(known, _)| known == event_type);
        if self.catalogue.id_of_first_event(event_type).is_none() && !is_in_batch() {
            self.new_types.push((event_type.clone(), event.id));
        }
    }

    /// Chains all candidates, or none of them: `None` when the ids run out.
    fn record(&mut self, candidates: Vec<EventCandidate>) -> Option<Vec<RecordedEvent>> {
        let mut head = self.head;
        let mut recorded = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let id = head.next?;
            let (version, time) = (self.hash_version, self.time.clone());
            let event = RecordedEvent::record_in(version, candidate, id, time, head.predecessor);
            head.next = id.next();
            head.predecessor = event.hash;
            recorded.push(event);
        }
        self.head = head;
        Some(recorded)
    }
}
