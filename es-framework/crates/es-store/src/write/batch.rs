//! The preparation of a batch: all appends that share a commit are checked, numbered, dated and
//! chained, one after the other.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::queue::{AppendOutcome, QueuedAppend};
use crate::{
    Conflict, Precondition, PreconditionScope, StoreError, catalogue::EventTypeCatalogue,
    schema::WorkBudget,
};
use es_event::{
    EventCandidate, EventId, EventTime, EventType, Hash, HashVersion, RecordedEvent, Subject,
};

/// The most steps of schema checks that the writer's thread does for one batch or one registration.
pub const WRITER_STEPS: u64 = 1_000_000;

/// The end of the hash chain, to which the next event is added.
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
#[derive(Debug)]
pub struct PreparedBatch<'a> {
    catalogue: &'a EventTypeCatalogue,
    hash_version: HashVersion,
    /// The budget for schemas that were registered while appends waited. All writes wait meanwhile.
    budget: WorkBudget,
    /// The end of the chain after this batch.
    pub head: ChainHead,
    time: EventTime,
    /// The latest event of each subject to which this batch writes.
    latest: HashMap<Subject, EventId>,
    /// The latest event of this batch at or below each subject that a recursive precondition names. A map of all
    /// ancestors of all events would take a hundred times the memory of the events.
    latest_below: HashMap<Box<str>, Option<EventId>>,
    /// The event types of this batch.
    types: HashSet<EventType>,
    /// The event types that no event before this batch has, each with its first event.
    pub new_types: Vec<(EventType, EventId)>,
    /// The result of each append once the batch is durable.
    pub outcomes: Vec<AppendOutcome>,
}

impl<'a> PreparedBatch<'a> {
    /// Prepares all appends, and takes the candidates of those that are not refused. All events of a batch have one time,
    /// because they become durable together. The time never goes back, even if the clock does.
    pub fn prepare<L: StoredEventLookup>(
        mut head: ChainHead,
        hash_version: HashVersion,
        catalogue: &'a EventTypeCatalogue,
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
            latest_below: recursive_subjects(appends),
            types: HashSet::new(),
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
            self.record_subject(&event.subject, event.id);
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
                match self.latest_below.get(without_trailing_slash(subject)) {
                    Some(Some(id)) => Ok(Some(*id)),
                    _ => stored.of_subtree(subject),
                }
            }
            PreconditionScope::Subject(subject) => match self.latest.get(subject) {
                Some(id) => Ok(Some(*id)),
                None => stored.of_subject(subject),
            },
        }
    }

    fn add_type(&mut self, event: &RecordedEvent) {
        let event_type = &event.event_type;
        if self.types.contains(event_type) {
            return;
        }
        self.types.insert(event_type.clone());
        if self.catalogue.id_of_first_event(event_type).is_none() {
            self.new_types.push((event_type.clone(), event.id));
        }
    }

    /// Records the latest event of a subject, and of the subjects above it that a precondition names.
    fn record_subject(&mut self, subject: &Subject, id: EventId) {
        self.latest.insert(subject.clone(), id);
        if self.latest_below.is_empty() {
            return;
        }
        let text = subject.as_str();
        let slashes = text.match_indices('/').map(|(index, _)| index);
        for end in slashes.chain([text.len()]) {
            let above = text.get(..end).unwrap_or_default();
            if let Some(latest) = self.latest_below.get_mut(above) {
                *latest = Some(id);
            }
        }
    }

    /// Chains all candidates, or none of them: `None` when the ids run out.
    fn record(&mut self, candidates: Vec<EventCandidate>) -> Option<Vec<RecordedEvent>> {
        let mut head = self.head;
        let mut recorded = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let id = head.next?;
            let (version, time) = (self.hash_version, self.time.clone());
            let event =
                RecordedEvent::record_with_version(version, candidate, id, time, head.predecessor);
            head.next = id.next();
            head.predecessor = event.hash;
            recorded.push(event);
        }
        self.head = head;
        Some(recorded)
    }
}

/// Returns the subjects that the recursive preconditions of a batch name, without an event yet.
fn recursive_subjects(appends: &[QueuedAppend]) -> HashMap<Box<str>, Option<EventId>> {
    let preconditions = appends.iter().flat_map(|append| &append.preconditions);
    let subjects = preconditions.filter_map(|precondition| match precondition.scope() {
        PreconditionScope::Subtree(subject) => Some(without_trailing_slash(subject).into()),
        PreconditionScope::Subject(_) | PreconditionScope::Store => None,
    });
    subjects.map(|subject| (subject, None)).collect()
}

/// Returns the text of a subject without the slash at its end: the same subjects are below both.
fn without_trailing_slash(subject: &Subject) -> &str {
    subject.as_str().trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::Arc,
        time::{Duration, Instant},
    };

    use serde_json::value::RawValue;
    use tokio::sync::{Semaphore, oneshot};

    use super::*;

    /// A store without events.
    struct EmptyStore;

    impl StoredEventLookup for EmptyStore {
        type Error = Infallible;

        fn of_subject(&self, _: &Subject) -> Result<Option<EventId>, Infallible> {
            Ok(None)
        }

        fn of_subtree(&self, _: &Subject) -> Result<Option<EventId>, Infallible> {
            Ok(None)
        }
    }

    fn append(
        events: impl IntoIterator<Item = (String, String)>,
        preconditions: Vec<Precondition>,
    ) -> QueuedAppend {
        let candidates = events
            .into_iter()
            .map(|(subject, event_type)| EventCandidate {
                source: "tests".into(),
                subject: subject.parse().unwrap(),
                event_type: event_type.parse().unwrap(),
                data: RawValue::from_string("{}".to_owned()).unwrap(),
                trace: None,
            });
        QueuedAppend {
            candidates: candidates.collect(),
            preconditions,
            bytes: 0,
            schemas: 0,
            answer: oneshot::channel().0,
            permit: Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap(),
        }
    }

    fn event(subject: &str) -> [(String, String); 1] {
        [(subject.to_owned(), "io.example.Happened".to_owned())]
    }

    fn prepare<'a>(
        catalogue: &'a EventTypeCatalogue,
        appends: &mut [QueuedAppend],
    ) -> PreparedBatch<'a> {
        let version = HashVersion::V1;
        let Ok(batch) =
            PreparedBatch::prepare(ChainHead::EMPTY, version, catalogue, &EmptyStore, appends);
        batch
    }

    #[test]
    fn a_recursive_precondition_sees_the_events_of_its_own_batch() {
        let on = |subject: &str, id| {
            let id = EventId::new(id).unwrap();
            Precondition::SubtreeIsOnEventId(subject.parse().unwrap(), id)
        };
        for (subject, latest) in [
            ("/", Some(3)),
            ("/orders", Some(2)),
            ("/orders/", Some(2)),
            ("/orders/4", Some(1)),
            ("/orders/4/items", Some(1)),
            ("/orders/42", Some(2)),
            ("/order", None),
            ("/orders/42/items", None),
        ] {
            for id in 0..4 {
                let mut appends = vec![
                    append(event("/orders/4"), vec![]),
                    append(event("/orders/4/items/1"), vec![]),
                    append(event("/orders/42"), vec![]),
                    append(event("/readers/1/"), vec![]),
                    append(vec![], vec![on(subject, id)]),
                ];
                let catalogue = EventTypeCatalogue::default();
                let batch = prepare(&catalogue, &mut appends);
                let holds = batch.outcomes.last().unwrap().is_ok();
                assert_eq!(holds, latest == Some(id), "{subject} on {id}");
            }
        }
    }

    #[test]
    fn a_new_type_is_listed_once_with_its_first_event() {
        let named = |name: &str| ("/a".to_owned(), format!("io.example.{name}"));
        let events = [named("A"), named("B"), named("A")];
        let mut appends = vec![append(events.clone(), vec![]), append(events, vec![])];
        let catalogue = EventTypeCatalogue::default();
        let listed = prepare(&catalogue, &mut appends).new_types;
        let listed: Vec<_> = listed
            .iter()
            .map(|(name, id)| (name.as_str(), id.get()))
            .collect();
        assert_eq!(listed, [("io.example.A", 0), ("io.example.B", 1)]);
    }

    /// With a scan of the batch for each type and each precondition, this takes minutes.
    #[test]
    fn the_work_of_a_batch_does_not_grow_with_the_square_of_its_size() {
        const COUNT: usize = 40_000;
        let events =
            (0..COUNT).map(|number| (format!("/a/{number}"), format!("io.example.{number}")));
        let new = |number| format!("/b/{number}").parse().unwrap();
        let pristine = |number| Precondition::SubtreeIsPristine(new(number));
        let mut appends = vec![
            append(events, vec![]),
            append(event("/c"), (0..COUNT).map(pristine).collect()),
        ];
        let catalogue = EventTypeCatalogue::default();
        let begun = Instant::now();
        let batch = prepare(&catalogue, &mut appends);
        let time = begun.elapsed();
        assert_eq!(batch.events().count(), COUNT + 1);
        assert!(time < Duration::from_secs(10), "{time:?}");
    }
}
