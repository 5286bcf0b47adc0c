//! The event store as the application sees it: personal values are sealed on the way in and opened on the way out.
//!
//! The event store's own API, EventQL, backups and copies use the event store behind it, and see sealed values.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use es_event::{EventCandidate, RecordedEvent, Subject, personal::announces_erasure};
use es_store::{
    AppendError, EventLog, EventStore, EventStream, ObserveOptions, Precondition, ReadOptions,
    StoreError,
};
use futures_util::{StreamExt as _, future, stream};
use tokio::sync::OnceCell;

use crate::{
    key_link::{KeyLink, PERSONS},
    key_store::KeyStoreError,
    person_keys::PersonKeys,
    sealed_event::{self, COMMAND_RECORD, PersonalEvents, SealError, SealedValue, ValueOpener},
};

/// The most events whose keys are looked up together.
const MAX_CHUNK: usize = 256;

/// The log of an event store that seals and opens the personal values of events.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct PersonalStore {
    store: Arc<dyn EventStore>,
    events: Arc<PersonalEvents>,
    keys: PersonKeys,
    /// Set once the events name the key store.
    linked: Arc<OnceCell<()>>,
}

impl PersonalStore {
    /// Puts the cipher before a store.
    #[must_use]
    pub fn new(store: Arc<dyn EventStore>, events: PersonalEvents, keys: PersonKeys) -> Self {
        Self {
            store,
            events: Arc::new(events),
            keys,
            linked: Arc::default(),
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

    /// Opens the personal values of events that were read from the store behind the cipher.
    ///
    /// # Errors
    /// The key store does not answer.
    pub async fn open_events(
        &self,
        events: Vec<RecordedEvent>,
    ) -> Result<Vec<RecordedEvent>, StoreError> {
        let sealed = events.into_iter().map(Ok).collect();
        self.open(sealed).await.into_iter().collect()
    }

    /// Links the key store before the first event is sealed.
    pub(crate) async fn ensure_link(&self) -> Result<(), StoreError> {
        let linked = self.linked.get_or_try_init(|| async {
            let link = KeyLink::new(self.store.clone(), PERSONS);
            link.ensure(self.keys.store().identity()).await
        });
        linked.await.map(drop)
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
            let data = self.events.mark(&candidate.event_type, &candidate.data);
            marked.extend(data.map_err(refused)?.map(|data| (index, data)));
        }
        // A value that equals its replacement, such as `None`, tells nothing and needs no key.
        let persons: Vec<_> = marked
            .iter()
            .flat_map(|(_, data)| &data.values)
            .filter(|value| !value.is_erased())
            .map(|value| value.person)
            .collect();
        if let Some(person) = persons.first() {
            for (index, candidate) in candidates.iter().enumerate() {
                if candidate.event_type.as_str() == COMMAND_RECORD {
                    let record = sealed_event::mark_command_record(candidate, *person);
                    marked.push((index, record.map_err(refused)?));
                }
            }
            self.ensure_link().await?;
        }
        let unique: HashSet<_> = persons.into_iter().collect();
        // The key store makes the keys that are asked for together durable at once.
        let lookups = unique.into_iter().map(|person| async move {
            let key = self.keys.find_or_create(person).await;
            key.map(|key| (person, key))
        });
        let found = future::try_join_all(lookups).await.map_err(refused)?;
        let keys = found.into_iter().collect();
        for (index, data) in marked {
            if let Some(candidate) = candidates.get_mut(index) {
                candidate.data = data.seal(candidate, &keys).map_err(refused)?;
            }
        }
        Ok(())
    }

    /// Opens the personal values of events. An event with a value that does not open stays sealed and tells the reason, so
    /// that it holds its own subject and nothing else. The announcement of an erasure ends the use of all keys in memory, so
    /// whoever has read it reads no plain value of its person any more.
    async fn open(
        &self,
        mut events: Vec<Result<RecordedEvent, StoreError>>,
    ) -> Vec<Result<RecordedEvent, StoreError>> {
        if events.iter().flatten().any(announces_erasure) {
            self.keys.clear_cache();
        }
        let sealed: Vec<_> = events.iter().map(|event| self.values_in(event)).collect();
        let persons = sealed.iter().flatten().flatten();
        let keys = match self.keys.find(persons.map(|value| value.person)).await {
            Ok(keys) => keys,
            // Every event stays unread. The first error ends the stream.
            Err(error) => return vec![Err(error.into())],
        };
        let mut opener = ValueOpener::default();
        let opened = events.iter().zip(sealed).map(|(event, values)| {
            let Ok(event) = event else { return Ok(None) };
            opener.open_event(event, &values?, |person| match keys.get(&person) {
                Some(Ok(key)) => Ok(key.as_deref()),
                Some(Err(error)) => Err(SealError::Invalid(error.to_string())),
                None => Err(SealError::UnknownPerson),
            })
        });
        let results: Vec<_> = opened.collect();
        for (event, opened) in events.iter_mut().zip(results) {
            match (event, opened) {
                (Ok(event), Ok(Some(data))) => event.data = data,
                (Ok(event), Err(error)) => event.unopened = Some(error.to_string().into()),
                _ => {}
            }
        }
        events
    }

    /// Returns the sealed values of an event that could be read. Those of other types are foreign, and stay as they are.
    fn values_in<'a>(
        &self,
        event: &'a Result<RecordedEvent, StoreError>,
    ) -> Result<Vec<SealedValue<'a>>, SealError> {
        match event {
            Ok(event) if self.events.may_be_sealed(&event.event_type) => {
                sealed_event::sealed_values(event.data.get())
            }
            _ => Ok(Vec::new()),
        }
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

/// Replaces each sealed value of an event by this JSON, or by its own replacement.
pub(crate) fn redact(
    mut event: RecordedEvent,
    shown: Option<&str>,
) -> Result<RecordedEvent, StoreError> {
    match sealed_event::redact(event.data.get(), shown) {
        Ok(None) => {}
        Ok(Some(data)) => event.data = data,
        Err(error) => return Err(corrupt(&event, &error)),
    }
    Ok(event)
}

pub(crate) fn corrupt(event: &RecordedEvent, error: &SealError) -> StoreError {
    StoreError::Corrupt {
        address: format!("event {} on {}", event.id, event.subject),
        reason: error.to_string(),
    }
}

impl From<KeyStoreError> for StoreError {
    fn from(error: KeyStoreError) -> Self {
        Self::KeyStore(error.to_string())
    }
}

fn refused(error: SealError) -> AppendError {
    match error {
        SealError::Erased(person) => AppendError::ErasedPerson(person.to_string()),
        SealError::KeyStore(error) => StoreError::from(error).into(),
        error => StoreError::Refused(error.to_string()).into(),
    }
}

#[async_trait]
impl EventLog for PersonalStore {
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
}
