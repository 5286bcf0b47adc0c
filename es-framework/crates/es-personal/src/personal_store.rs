//! The event store as the application sees it: personal values are sealed on the way in and opened on the way out.
//!
//! The event store's own API, EventQL, backups and copies use the event store behind it, and see sealed values.

use std::{collections::HashSet, fmt, sync::Arc};

use async_trait::async_trait;
use es_event::{EventCandidate, EventType, RecordedEvent, Subject};
use es_store::{
    AppendError, EventOpener, EventSchema, EventStore, EventStream, EventTypeStream,
    KnownEventType, ObserveOptions, Precondition, ReadOptions, RegisterError, StoreError,
    SubjectStream,
};
use futures_util::{StreamExt as _, future, stream};
use serde_json::value::RawValue;

use crate::{
    key_link::{KeyLink, LinkedSchema},
    person_keys::PersonKeys,
    sealed_event::{self, COMMAND_RECORD, PersonalEvents, SealError, SealedValue, ValueOpener},
};

/// The most events whose keys are looked up together.
const MAX_CHUNK: usize = 256;

/// Seals and opens the personal values of events.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct PersonalStore {
    store: Arc<dyn EventStore>,
    events: Arc<PersonalEvents>,
    keys: PersonKeys,
    link: Arc<KeyLink>,
}

impl PersonalStore {
    /// Puts the cipher before a store.
    #[must_use]
    pub fn new(store: Arc<dyn EventStore>, events: PersonalEvents, keys: PersonKeys) -> Self {
        let identity = keys.store().identity();
        let link = KeyLink::new(Arc::clone(&store), LinkedSchema::PERSONS, identity);
        let link = Arc::new(link);
        let events = Arc::new(events);
        Self {
            store,
            events,
            keys,
            link,
        }
    }

    /// Returns true if events of this type may hold personal data.
    #[must_use]
    pub fn may_hold_personal_data(&self, event_type: &str) -> bool {
        self.events.contains(event_type)
    }

    /// Returns the store behind the cipher, in which the values are sealed.
    #[must_use]
    pub fn sealed(&self) -> &Arc<dyn EventStore> {
        &self.store
    }

    pub(crate) fn link(&self) -> &KeyLink {
        &self.link
    }

    /// Returns the keys with which the store seals and opens values.
    #[must_use]
    pub fn keys(&self) -> &PersonKeys {
        &self.keys
    }

    pub(crate) fn events(&self) -> &PersonalEvents {
        &self.events
    }

    async fn seal(&self, candidates: &mut [EventCandidate]) -> Result<(), AppendError> {
        let mut marked = Vec::new();
        for (index, candidate) in candidates.iter().enumerate() {
            let values = self.events.mark(&candidate.event_type, &candidate.data);
            let values = values.map_err(refused)?;
            marked.extend(values.map(|values| (index, values)));
        }
        let first = marked.first().and_then(|(_, data)| data.values.first());
        let Some(person) = first.map(|value| value.person) else {
            return Ok(());
        };
        for (index, candidate) in candidates.iter().enumerate() {
            if candidate.event_type.as_str() == COMMAND_RECORD {
                let record = sealed_event::mark_command_record(candidate, person);
                marked.push((index, record.map_err(refused)?));
            }
        }
        self.link.ensure().await?;
        let values = marked.iter().flat_map(|(_, data)| &data.values);
        let persons: HashSet<_> = values.map(|value| value.person).collect();
        // The key store makes the keys that are asked for together durable at once.
        let keys = persons.into_iter().map(|person| async move {
            let key = self.keys.find_or_create(person).await;
            key.map(|key| (person, key))
        });
        let keys = future::try_join_all(keys).await.map_err(refused)?;
        let keys = keys.into_iter().collect();
        for (index, data) in marked {
            if let Some(candidate) = candidates.get_mut(index) {
                candidate.data = data.seal(candidate, &keys).map_err(refused)?;
            }
        }
        Ok(())
    }

    /// Opens the personal values of events.
    async fn open(
        &self,
        mut events: Vec<Result<RecordedEvent, StoreError>>,
    ) -> Vec<Result<RecordedEvent, StoreError>> {
        let sealed: Vec<_> = events.iter().map(values_in).collect();
        let persons = sealed.iter().flatten().flatten();
        let keys = match self.keys.find(persons.map(|value| value.person)).await {
            Ok(keys) => keys,
            // Every event stays unread. The first error ends the stream.
            Err(error) => return vec![Err(unavailable(error))],
        };
        let find_key = |person| match keys.get(&person) {
            Some(key) => Ok(key.as_deref()),
            None => Err(SealError::UnknownPerson(person)),
        };
        let mut opener = ValueOpener::default();
        let opened = events.iter().zip(sealed).map(|(event, values)| {
            let (Ok(event), values) = (event, values?) else {
                return Ok(None);
            };
            let opened = opener.open_event(event, &values, find_key);
            opened.map_err(|error| corrupt(event, &error))
        });
        let opened: Vec<_> = opened.collect();
        for (event, opened) in events.iter_mut().zip(opened) {
            match (opened, event) {
                (Ok(Some(data)), Ok(event)) => event.data = data,
                (Ok(_), _) => {}
                (Err(error), event) => *event = Err(error),
            }
        }
        events
    }

    fn open_stream(&self, events: EventStream) -> EventStream {
        let store = self.clone();
        let chunks = events.ready_chunks(MAX_CHUNK);
        let opened = chunks.then(move |chunk| {
            let store = store.clone();
            async move { stream::iter(store.open(chunk).await) }
        });
        opened.flatten().boxed()
    }
}

/// Returns the sealed values of an event that could be read.
fn values_in(
    event: &Result<RecordedEvent, StoreError>,
) -> Result<Vec<SealedValue<'_>>, StoreError> {
    let Ok(event) = event else {
        return Ok(Vec::new());
    };
    let values = sealed_event::sealed_values(event.data.get());
    values.map_err(|error| corrupt(event, &error))
}

fn replace_data(
    mut event: RecordedEvent,
    data: Option<Box<RawValue>>,
) -> Result<RecordedEvent, StoreError> {
    if let Some(data) = data {
        event.data = data;
    }
    Ok(event)
}

/// Replaces each sealed value of an event by its replacement.
pub(crate) fn redact(event: RecordedEvent) -> Result<RecordedEvent, StoreError> {
    let redacted = sealed_event::sealed_values(event.data.get())
        .and_then(|values| ValueOpener::default().open_event(&event, &values, |_| Ok(None)));
    let redacted = redacted.map_err(|error| corrupt(&event, &error))?;
    replace_data(event, redacted)
}

pub(crate) fn corrupt(event: &RecordedEvent, error: &SealError) -> StoreError {
    StoreError::Corrupt {
        address: format!("event {} on {}", event.id, event.subject),
        reason: error.to_string(),
    }
}

pub(crate) fn unavailable(error: impl fmt::Display) -> StoreError {
    StoreError::Unavailable {
        address: "with the keys of persons".to_owned(),
        reason: error.to_string(),
    }
}

fn refused(error: SealError) -> AppendError {
    match error {
        SealError::Erased(person) => AppendError::ErasedPerson(person.to_string()),
        error @ SealError::KeyStore(_) => unavailable(error).into(),
        error => StoreError::Refused(error.to_string()).into(),
    }
}

#[async_trait]
impl EventOpener for PersonalStore {
    async fn open_events(
        &self,
        events: Vec<RecordedEvent>,
    ) -> Result<Vec<RecordedEvent>, StoreError> {
        let events = events.into_iter().map(Ok).collect();
        self.open(events).await.into_iter().collect()
    }
}

#[async_trait]
impl EventStore for PersonalStore {
    async fn append(
        &self,
        mut candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        self.seal(&mut candidates).await?;
        self.store.append(candidates, preconditions).await
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        self.open_stream(self.store.read(subject, options))
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.open_stream(self.store.observe(subject, options))
    }

    fn read_subjects(&self, base: Subject) -> SubjectStream {
        self.store.read_subjects(base)
    }

    async fn read_child_subjects(
        &self,
        base: Subject,
        after: Option<Subject>,
        limit: usize,
    ) -> Result<Vec<Subject>, StoreError> {
        self.store.read_child_subjects(base, after, limit).await
    }

    fn read_event_types(&self) -> EventTypeStream {
        self.store.read_event_types()
    }

    async fn read_event_type(
        &self,
        event_type: EventType,
    ) -> Result<Option<KnownEventType>, StoreError> {
        self.store.read_event_type(event_type).await
    }

    async fn register_event_schema(
        &self,
        event_type: EventType,
        schema: EventSchema,
    ) -> Result<(), RegisterError> {
        self.store.register_event_schema(event_type, schema).await
    }

    async fn find_table_flaw(
        &self,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Option<String>, StoreError> {
        self.store.find_table_flaw(progress).await
    }

    async fn health(&self) -> Result<(), StoreError> {
        self.store.health().await
    }

    fn description(&self) -> String {
        self.store.description()
    }
}
