//! The links between the events and the keys that they need: the schema of an event type names the key store, or the key.
//!
//! A schema is registered once and never changes, is in every backup, and takes no event id.

use std::sync::Arc;

use es_event::EventType;
use es_store::{EventSchema, RegisterError, SchemaConflict, StoreCatalog, StoreError};
use serde_json::{Value, json};
use uuid::Uuid;

/// The type of the event that announces an erasure.
pub(crate) const ERASURE: EventType =
    EventType::declared("io.es-framework.PersonalDataErasedEvent");

/// The place in a schema that names a key store or a key.
#[derive(Debug, Clone)]
pub(crate) struct LinkedSchema {
    /// The type with the schema.
    pub(crate) event_type: EventType,
    /// The member of the payload whose only value is the name.
    pub(crate) member: &'static str,
}

/// The schema of the erasures, which names the key store of the persons.
pub(crate) const PERSONS: LinkedSchema = LinkedSchema {
    event_type: ERASURE,
    member: "keyStore",
};

/// The error for keys that do not belong to the events.
#[doc(hidden)]
#[derive(Debug, thiserror::Error)]
#[error(
    "the events need the keys {expected}, and KEY_STORE_URL names the key store with {found}: let KEY_STORE_URL name the one with the keys, or restore it"
)]
pub struct OtherKeyStore {
    /// The key store or the key of the events.
    pub expected: Uuid,
    /// The one of the settings.
    pub found: Uuid,
}

/// The link between events and the key that they need, so that all instances seal with the same one.
#[derive(Debug, Clone)]
pub(crate) struct KeyLink {
    catalog: Arc<dyn StoreCatalog>,
    place: LinkedSchema,
}

impl KeyLink {
    pub(crate) const fn new(catalog: Arc<dyn StoreCatalog>, place: LinkedSchema) -> Self {
        Self { catalog, place }
    }

    /// Checks that the events need no other key than this one.
    pub(crate) async fn check(&self, found: Uuid) -> Result<(), StoreError> {
        match find_link(&*self.catalog, &self.place).await {
            Ok(Some(expected)) if expected != found => {
                let other = OtherKeyStore { expected, found };
                Err(StoreError::Refused(other.to_string()))
            }
            // A store of the application's own, without schemas.
            Ok(_) | Err(StoreError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Links a key before the first event is sealed with it.
    pub(crate) async fn ensure(&self, key: Uuid) -> Result<(), StoreError> {
        let json = json!({
            "type": "object",
            "properties": {
                "payload": {
                    "type": "object",
                    "properties": { self.place.member: { "const": key } },
                },
            },
        });
        let schema = EventSchema::parse(&json.to_string())
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        let event_type = self.place.event_type.clone();
        match self.catalog.register_event_schema(event_type, schema).await {
            Ok(()) => Ok(()),
            Err(RegisterError::Conflict(SchemaConflict::Exists)) => self.check(key).await,
            // A store of the application's own, without schemas.
            Err(RegisterError::Store(error @ StoreError::Refused(_))) => {
                tracing::warn!(%error, "the events do not name their keys");
                Ok(())
            }
            Err(RegisterError::Store(error)) => Err(error),
            Err(error) => Err(StoreError::Unavailable {
                address: self.catalog.description(),
                reason: error.to_string(),
            }),
        }
    }
}

/// Returns the name of the key store that events need, if one is linked.
#[doc(hidden)]
pub async fn find_key_store(catalog: &dyn StoreCatalog) -> Result<Option<Uuid>, StoreError> {
    find_link(catalog, &PERSONS).await
}

/// Returns the name of the key store or the key that events need.
pub(crate) async fn find_link(
    catalog: &dyn StoreCatalog,
    place: &LinkedSchema,
) -> Result<Option<Uuid>, StoreError> {
    let LinkedSchema { event_type, member } = place;
    let Some(known) = catalog.read_event_type(event_type.clone()).await? else {
        return Ok(None);
    };
    let Some(schema) = known.schema else {
        return Ok(None);
    };
    let corrupt = |reason: String| StoreError::Corrupt {
        address: format!("the schema of {event_type}"),
        reason,
    };
    let schema: Value =
        serde_json::from_str(schema.get()).map_err(|error| corrupt(error.to_string()))?;
    let pointer = format!("/properties/payload/properties/{member}/const");
    let identity = schema.pointer(&pointer).and_then(Value::as_str);
    match identity.and_then(|identity| identity.parse().ok()) {
        Some(identity) => Ok(Some(identity)),
        None => Err(corrupt("it names no key".to_owned())),
    }
}
