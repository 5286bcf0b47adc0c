//! The event types that a store knows: those of its events, and those with a schema.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;
use serde_json::value::RawValue;

use super::{EventSchema, SchemaConflict, schema::WorkBudget};
use es_event::{EventCandidate, EventId, EventType};

/// An event type that a store knows.
///
/// ```
/// use es_event::EventType;
/// use es_store::KnownEventType;
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
    /// The event type's name.
    pub event_type: EventType,
    /// True if the type has a schema but no event yet.
    pub is_phantom: bool,
    /// The schema that the data of events of this type follows. The store shares it, because all schemas together
    /// can be large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Arc<RawValue>>,
}

/// All event types of a store. There are few, so they stay in memory and are copied for each change.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct EventTypeCatalogue {
    types: BTreeMap<EventType, CatalogueEntry>,
    schemas: usize,
}

/// The first event and the schema of an event type.
#[derive(Debug, Clone, Default)]
struct CatalogueEntry {
    first: Option<EventId>,
    schema: Option<RegisteredSchema>,
}

/// The most memory for schemas, by estimate. Schemas are registered for ever.
const MAX_SIZE: usize = 128 << 20;

/// A schema, and the number of schemas that were registered before it.
#[derive(Debug, Clone)]
struct RegisteredSchema {
    schema: Arc<EventSchema>,
    number: usize,
}

impl CatalogueEntry {
    /// Describes an event type for clients.
    fn known(&self, event_type: &EventType) -> KnownEventType {
        KnownEventType {
            event_type: event_type.clone(),
            is_phantom: self.first.is_none(),
            schema: self.schema.as_ref().map(|entry| entry.schema.share_json()),
        }
    }
}

impl EventTypeCatalogue {
    /// Returns the id of the first event of a type.
    pub fn id_of_first_event(&self, event_type: &EventType) -> Option<EventId> {
        self.types.get(event_type)?.first
    }

    /// Returns the number of schemas. It only grows, so the same number means that an earlier check
    /// is still valid.
    pub const fn schemas(&self) -> usize {
        self.schemas
    }

    /// Records an event of a type.
    pub fn record_event(&mut self, event_type: &EventType, id: EventId) {
        let entry = match self.types.get_mut(event_type) {
            Some(entry) => entry,
            None => self.types.entry(event_type.clone()).or_default(),
        };
        entry.first.get_or_insert(id);
    }

    /// Registers the schema of an event type, which keeps its first schema.
    pub fn register_schema(
        &mut self,
        event_type: EventType,
        schema: Arc<EventSchema>,
    ) -> Result<(), SchemaConflict> {
        let entry = self.types.entry(event_type).or_default();
        if entry.schema.is_some() {
            return Err(SchemaConflict::Exists);
        }
        let number = self.schemas;
        entry.schema = Some(RegisteredSchema { schema, number });
        self.schemas = number.saturating_add(1);
        Ok(())
    }

    /// Checks that a type has no schema yet, that there is memory for this one, and that this program can apply it.
    pub fn check_new_schema(
        &self,
        event_type: &EventType,
        schema: &EventSchema,
    ) -> Result<(), SchemaConflict> {
        let entry = self.types.get(event_type);
        if entry.is_some_and(|entry| entry.schema.is_some()) {
            return Err(SchemaConflict::Exists);
        }
        let registered = self
            .types
            .values()
            .filter_map(|entry| entry.schema.as_ref());
        let size = registered.map(|entry| entry.schema.size());
        if size.fold(schema.size(), usize::saturating_add) > MAX_SIZE {
            return Err(SchemaConflict::TooManySchemas);
        }
        schema.check_applicable()
    }

    /// Returns true if one of the candidates has a type with a schema.
    pub fn has_schema_for(&self, candidates: &[EventCandidate]) -> bool {
        let mut candidates = candidates.iter();
        self.schemas > 0 && candidates.any(|candidate| self.schema(&candidate.event_type).is_some())
    }

    /// Checks that all candidates follow those schemas of their types that were registered after the
    /// first `known` schemas.
    pub fn check_against_schemas_since(
        &self,
        candidates: &[EventCandidate],
        known: usize,
        budget: &mut WorkBudget,
    ) -> Result<(), SchemaConflict> {
        if self.schemas == known {
            return Ok(());
        }
        for candidate in candidates {
            let schema = self.schema(&candidate.event_type);
            if let Some(entry) = schema.filter(|entry| entry.number >= known) {
                entry.schema.check_candidate(&candidate.data, budget)?;
            }
        }
        Ok(())
    }

    fn schema(&self, event_type: &EventType) -> Option<&RegisteredSchema> {
        self.types.get(event_type)?.schema.as_ref()
    }

    /// Returns an event type with its schema, if it is known.
    pub fn get(&self, event_type: &EventType) -> Option<KnownEventType> {
        let entry = self.types.get(event_type)?;
        Some(entry.known(event_type))
    }

    /// Returns all event types, sorted.
    pub fn event_types(&self) -> Vec<KnownEventType> {
        let known = |(event_type, entry): (&EventType, &CatalogueEntry)| entry.known(event_type);
        self.types.iter().map(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_listing_shares_the_schemas() {
        let schema = EventSchema::parse(r#"{"type":"object","properties":{}}"#).unwrap();
        let event_type: EventType = "io.example.Happened".parse().unwrap();
        let mut catalogue = EventTypeCatalogue::default();
        catalogue
            .register_schema(event_type, Arc::new(schema))
            .unwrap();
        let listed = || catalogue.event_types().remove(0).schema.unwrap();
        assert!(Arc::ptr_eq(&listed(), &listed()));
    }

    #[test]
    fn the_memory_of_all_schemas_is_limited() {
        let properties: serde_json::Map<_, _> = (0..200)
            .map(|number| (number.to_string(), json!({"pattern": "^[a-z]{1,9}[0-9]+$"})))
            .collect();
        let schema = json!({"type": "object", "properties": properties}).to_string();
        let schema = Arc::new(EventSchema::parse(&schema).unwrap());
        let mut catalogue = EventTypeCatalogue::default();
        let mut event_types = (0..).map(|number| format!("io.example.Type{number}"));
        let refused = loop {
            let event_type: EventType = event_types.next().unwrap().parse().unwrap();
            if let Err(refused) = catalogue.check_new_schema(&event_type, &schema) {
                break refused;
            }
            catalogue
                .register_schema(event_type, Arc::clone(&schema))
                .unwrap();
        };
        assert_eq!(refused, SchemaConflict::TooManySchemas);
        assert_eq!(catalogue.schemas(), 10);
    }
}
