//! The links between the events and the keys that they need: the schema of an event type names the key store, or the key.
//!
//! A schema is registered once and never changes, is in every backup, and takes no event id.

use std::sync::Arc;

use es_event::EventType;
use es_store::{EventSchema, RegisterError, SchemaConflict, StoreCatalog, StoreError};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use uuid::Uuid;

/// The type of the event that announces an erasure.
pub(crate) const ERASURE: EventType =
    EventType::declared("io.es-framework.PersonalDataErasedEvent");

/// The place in a schema that names a key store or a key.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct LinkedSchema {
    /// The type with the schema.
    pub event_type: EventType,
    /// The member of the payload whose only value is the name.
    pub member: &'static str,
}

impl LinkedSchema {
    /// The schema of the erasures, which names the key store of the persons.
    pub const PERSONS: Self = Self {
        event_type: ERASURE,
        member: "keyStore",
    };
}

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

/// Makes sure that all instances seal with the same key store.
#[derive(Debug)]
pub(crate) struct KeyLink {
    catalog: Arc<dyn StoreCatalog>,
    place: LinkedSchema,
    identity: Uuid,
    linked: OnceCell<()>,
}

impl KeyLink {
    pub(crate) fn new(catalog: Arc<dyn StoreCatalog>, place: LinkedSchema, identity: Uuid) -> Self {
        let linked = OnceCell::new();
        Self {
            catalog,
            place,
            identity,
            linked,
        }
    }

    /// Links the key store before the first event is sealed.
    pub(crate) async fn ensure(&self) -> Result<(), StoreError> {
        let linked = self.linked.get_or_try_init(|| self.link());
        linked.await.map(drop)
    }

    async fn link(&self) -> Result<(), StoreError> {
        let schema = json!({
            "type": "object",
            "properties": {
                "payload": {
                    "type": "object",
                    "properties": { self.place.member: { "const": self.identity } },
                },
            },
        });
        let schema = EventSchema::parse(&schema.to_string());
        let schema = schema.map_err(|error| StoreError::Refused(error.to_string()))?;
        let event_type = self.place.event_type.clone();
        match self.catalog.register_event_schema(event_type, schema).await {
            Ok(()) => Ok(()),
            Err(RegisterError::Conflict(SchemaConflict::Exists)) => self.compare().await,
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

    async fn compare(&self) -> Result<(), StoreError> {
        match find_link(&*self.catalog, &self.place).await? {
            Some(expected) if expected != self.identity => {
                let found = self.identity;
                let other = OtherKeyStore { expected, found };
                Err(StoreError::Refused(other.to_string()))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the name of the key store or the key that events need.
#[doc(hidden)]
pub async fn find_link(
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
    let identity = identity.and_then(|identity| identity.parse().ok());
    identity
        .map(Some)
        .ok_or_else(|| corrupt("it names no key".to_owned()))
}
