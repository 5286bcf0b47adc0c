//! An event store in memory, for tests. Like the others, it checks every precondition and computes
//! the hash chain.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use tokio::sync::watch;

use super::{
    AppendError, Conflict, EventLog, EventSchema, EventStream, EventTypeStream, KnownEventType,
    ObserveOptions, Order, Precondition, PreconditionScope, ReadOptions, RegisterError,
    SchemaConflict, StoreCatalog, StoreError, SubjectStream,
    catalogue::EventTypeCatalogue,
    options::IdRange,
    scan::{self, Chunk, Scan},
    schema::WorkBudget,
    schema_work,
    subjects::SubjectListing,
    write::WRITER_STEPS,
};
use es_event::{
    Clock, EventCandidate, EventId, EventTime, EventType, Hash, HashVersion, RecordedEvent, Subject,
};

/// The number of events that a read copies from the log at once.
const CHUNK: usize = 256;

/// An event store in memory. Its events are lost when the last clone is dropped.
///
/// ```
/// use es_store::{StoreCatalog as _, memory::MemoryStore};
///
/// assert_eq!(MemoryStore::new().description(), "in memory");
/// ```
#[derive(Debug, Clone)]
pub struct MemoryStore {
    log: Arc<RwLock<Log>>,
    length: watch::Sender<u64>,
}

/// The contents of the store.
#[derive(Debug, Default)]
struct Log {
    events: Vec<RecordedEvent>,
    latest: HashMap<Subject, EventId>,
    catalogue: Arc<EventTypeCatalogue>,
    hash_version: HashVersion,
    clock: Clock,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self {
            log: Arc::default(),
            length: watch::Sender::new(0),
        }
    }

    /// Computes the hashes of the next events in this version.
    #[must_use]
    pub fn with_hash_version(self, version: HashVersion) -> Self {
        let log = self.log.write();
        log.unwrap_or_else(PoisonError::into_inner).hash_version = version;
        self
    }

    /// Records the next events at the times of this clock.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        let log = self.log.write();
        log.unwrap_or_else(PoisonError::into_inner).clock = clock;
        self
    }

    /// Locks the log. It changes only after all checks, so a panic never leaves it inconsistent.
    fn log(&self) -> RwLockReadGuard<'_, Log> {
        self.log.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn append(
        &mut self,
        candidates: Vec<EventCandidate>,
        preconditions: &[Precondition],
        known_schemas: usize,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        let fails = |condition: &Precondition| !condition.holds(self.latest(condition));
        if let Some(index) = preconditions.iter().position(fails) {
            return Err(Conflict::at(index).into());
        }
        // The caller has checked the schemas that it knew.
        let mut budget = WorkBudget::of(WRITER_STEPS);
        self.catalogue
            .check_against_schemas_since(&candidates, known_schemas, &mut budget)?;
        let recorded = self.record(candidates)?;
        for event in &recorded {
            if self
                .catalogue
                .id_of_first_event(&event.event_type)
                .is_none()
            {
                Arc::make_mut(&mut self.catalogue).record_event(&event.event_type, event.id);
            }
            self.latest.insert(event.subject.clone(), event.id);
        }
        self.events.extend(recorded.iter().cloned());
        Ok(recorded)
    }

    /// Returns the latest event in the scope of a precondition.
    fn latest(&self, condition: &Precondition) -> Option<EventId> {
        match condition.scope() {
            PreconditionScope::Subject(subject) => self.latest.get(subject).copied(),
            PreconditionScope::Subtree(subject) => {
                let mut newest = self.events.iter().rev();
                let below = newest.find(|event| event.subject.is_within(subject));
                below.map(|event| event.id)
            }
            PreconditionScope::Store => self.events.last().map(|event| event.id),
        }
    }

    /// Numbers, times and chains candidates. Stores nothing.
    fn record(&self, candidates: Vec<EventCandidate>) -> Result<Vec<RecordedEvent>, StoreError> {
        let (mut next, mut predecessor) = match self.events.last() {
            Some(last) => (last.id.next(), last.hash),
            None => (Some(EventId::FIRST), Hash::ZERO),
        };
        let mut recorded = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let id = next.ok_or_else(|| StoreError::Full("every event id is taken".into()))?;
            let version = self.hash_version;
            let time = EventTime::from_timestamp(self.clock.now());
            let event =
                RecordedEvent::record_with_version(version, candidate, id, time, predecessor);
            (next, predecessor) = (id.next(), event.hash);
            recorded.push(event);
        }
        Ok(recorded)
    }

    fn register(
        &mut self,
        event_type: EventType,
        schema: EventSchema,
    ) -> Result<(), SchemaConflict> {
        self.catalogue.check_new_schema(&event_type, &schema)?;
        let mut budget = WorkBudget::of(WorkBudget::WRITE);
        for event in &self.events {
            if event.event_type == event_type {
                schema.check_event(event.id, &event.data, &mut budget)?;
            }
        }
        Arc::make_mut(&mut self.catalogue).register_schema(event_type, Arc::new(schema))
    }

    fn subjects(&self, base: Subject) -> SubjectListing {
        let mut tree = SubjectListing::unlimited(base);
        self.latest
            .keys()
            .cloned()
            .for_each(|subject| tree.add_subject(subject));
        tree
    }

    fn length(&self) -> u64 {
        u64::try_from(self.events.len()).unwrap_or(u64::MAX)
    }

    fn range(&self, range: IdRange) -> &[RecordedEvent] {
        let index = |id: u64| usize::try_from(id.min(self.length())).unwrap_or(usize::MAX);
        let (first, end) = (index(range.first), index(range.last.saturating_add(1)));
        self.events.get(first..end).unwrap_or_default()
    }

    fn chunk(&self, scan: &Scan) -> Chunk {
        let matching = |event: &&RecordedEvent| scan.matches(event);
        let most = scan.next_count(CHUNK);
        let stored = self.range(scan.range).iter();
        let events: Vec<_> = match scan.order {
            Order::Chronological => stored.filter(matching).take(most).cloned().collect(),
            Order::Antichronological => stored.rev().filter(matching).take(most).cloned().collect(),
        };
        let count = events.len();
        let full = events.last().filter(|_| count == most);
        let rest = full.and_then(|last| scan.ids_after(last.id));
        Chunk {
            events,
            count,
            rest,
        }
    }
}

#[async_trait]
impl scan::ChunkSource for MemoryStore {
    type Events = Vec<RecordedEvent>;

    const EVENTS: u64 = CHUNK as u64;

    async fn chunk(&self, scan: &Scan) -> Result<Chunk, StoreError> {
        Ok(self.log().chunk(scan))
    }
}

#[async_trait]
impl scan::Log for MemoryStore {
    fn length(&self) -> watch::Receiver<u64> {
        self.length.subscribe()
    }

    async fn find(
        &self,
        subject: &Subject,
        event_type: &EventType,
        range: IdRange,
        order: Order,
    ) -> Result<Option<EventId>, StoreError> {
        let log = self.log();
        let wanted =
            |event: &&RecordedEvent| event.subject == *subject && event.event_type == *event_type;
        let mut events = log.range(range).iter();
        let found = match order {
            Order::Chronological => events.find(wanted),
            Order::Antichronological => events.rfind(wanted),
        };
        Ok(found.map(|event| event.id))
    }
}

#[async_trait]
impl EventLog for MemoryStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        let catalogue = Arc::clone(&self.log().catalogue);
        let candidates = schema_work::check_candidates(&catalogue, candidates).await?;
        let mut log = self.log.write().unwrap_or_else(PoisonError::into_inner);
        let recorded = log.append(candidates, &preconditions, catalogue.schemas())?;
        // Sent while the log is locked, so that subscribers receive the lengths in order.
        self.length.send_replace(log.length());
        Ok(recorded)
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        scan::read_events(self.clone(), subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        scan::observe_events(self.clone(), self.clone(), subject, options)
    }
}

#[async_trait]
impl StoreCatalog for MemoryStore {
    fn read_subjects(&self, base: Subject) -> SubjectStream {
        let tree = self.log().subjects(base);
        stream::iter(tree.into_sorted()).map(Ok).boxed()
    }

    fn read_event_types(&self) -> EventTypeStream {
        let known = self.log().catalogue.event_types();
        stream::iter(known).map(Ok).boxed()
    }

    async fn read_event_type(
        &self,
        event_type: EventType,
    ) -> Result<Option<KnownEventType>, StoreError> {
        Ok(self.log().catalogue.get(&event_type))
    }

    async fn register_event_schema(
        &self,
        event_type: EventType,
        schema: EventSchema,
    ) -> Result<(), RegisterError> {
        let log = Arc::clone(&self.log);
        let register = move || {
            let mut log = log.write().unwrap_or_else(PoisonError::into_inner);
            log.register(event_type, schema)
        };
        Ok(schema_work::run_on_blocking_thread(register).await??)
    }

    async fn health(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn is_volatile(&self) -> bool {
        true
    }

    fn description(&self) -> String {
        "in memory".into()
    }
}

#[cfg(test)]
mod tests {
    use crate::{contract, memory::MemoryStore};
    use es_event::HashVersion;

    #[tokio::test]
    async fn the_memory_store_keeps_the_contract() {
        contract::run(|| async { MemoryStore::new() }).await;
    }

    #[tokio::test]
    async fn the_memory_store_keeps_the_contract_with_hashes_of_version_2() {
        let store = || MemoryStore::new().with_hash_version(HashVersion::V2);
        contract::run(|| async { store() }).await;
    }
}
