//! The event types that a store knows: those of its events, and those with a schema.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;
use serde_json::value::RawValue;

use super::{EventSchema, SchemaConflict};
use es_event::{EventCandidate, EventId, EventType};

/// An event type that a store knows.
///
/// ```
/// use es_framework::{event::EventType, store::KnownEventType};
///
/// let event_type = EventType::declared("com.example.library.BookRemovedEvent");
/// let known = KnownEventType { event_type, is_phantom: false, schema: None };
/// let json = serde_json::to_string(&known)?;
/// assert_eq!(json, r#"{"eventType":"com.example.library.BookRemovedEvent","isPhantom":false}"#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownEventType {
    /// Its name.
    pub event_type: EventType,
    /// True if the type has a schema but no event yet.
    pub is_phantom: bool,
    /// The schema that the data of its events follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Box<RawValue>>,
}

/// All event types of a store. There are few, so they stay in memory and are copied for each change.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    types: BTreeMap<EventType, Entry>,
    schemas: usize,
}

#[derive(Debug, Clone, Default)]
struct Entry {
    first: Option<EventId>,
    schema: Option<Arc<EventSchema>>,
}

impl Entry {
    fn known(&self, event_type: &EventType) -> KnownEventType {
        KnownEventType {
            event_type: event_type.clone(),
            is_phantom: self.first.is_none(),
            schema: self.schema.as_ref().map(|schema| schema.json().to_owned()),
        }
    }
}

impl Catalogue {
    /// Returns the id of the first event of a type.
    pub fn first(&self, event_type: &EventType) -> Option<EventId> {
        self.types.get(event_type)?.first
    }

    /// Returns the number of schemas. It only grows, so the same number means that an earlier check
    /// is still valid.
    pub const fn schemas(&self) -> usize {
        self.schemas
    }

    /// Records an event of a type.
    pub fn saw(&mut self, event_type: &EventType, id: EventId) {
        let entry = match self.types.get_mut(event_type) {
            Some(entry) => entry,
            None => self.types.entry(event_type.clone()).or_default(),
        };
        entry.first.get_or_insert(id);
    }

    /// Registers a schema. A type keeps its first schema.
    pub fn register(
        &mut self,
        event_type: EventType,
        schema: Arc<EventSchema>,
    ) -> Result<(), SchemaConflict> {
        let entry = self.types.entry(event_type).or_default();
        if entry.schema.is_some() {
            return Err(SchemaConflict::Exists);
        }
        entry.schema = Some(schema);
        self.schemas = self.schemas.saturating_add(1);
        Ok(())
    }

    /// Checks that a type has no schema yet.
    pub fn is_free(&self, event_type: &EventType) -> Result<(), SchemaConflict> {
        let entry = self.types.get(event_type);
        match entry.is_some_and(|entry| entry.schema.is_some()) {
            true => Err(SchemaConflict::Exists),
            false => Ok(()),
        }
    }

    /// Checks that all candidates follow the schemas of their types.
    pub fn check(&self, candidates: &[EventCandidate]) -> Result<(), SchemaConflict> {
        if self.schemas == 0 {
            return Ok(());
        }
        for candidate in candidates {
            let entry = self.types.get(&candidate.event_type);
            if let Some(schema) = entry.and_then(|entry| entry.schema.as_ref()) {
                let checked = schema.check(&candidate.data);
                checked.map_err(SchemaConflict::Candidate)?;
            }
        }
        Ok(())
    }

    /// Returns an event type with its schema, if it is known.
    pub fn get(&self, event_type: &EventType) -> Option<KnownEventType> {
        let entry = self.types.get(event_type)?;
        Some(entry.known(event_type))
    }

    /// Returns all types, sorted.
    pub fn all(&self) -> Vec<KnownEventType> {
        let known = |(event_type, entry): (&EventType, &Entry)| entry.known(event_type);
        self.types.iter().map(known).collect()
    }
}
