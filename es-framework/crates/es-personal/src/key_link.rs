//! The link between the events and their key store: the schema of the erasures names the key store.
//!
//! A schema is registered once and never changes, is in every backup, and takes no event id.

use std::sync::Arc;

use es_event::EventType;
use es_store::{AppendError, EventSchema, EventStore, RegisterError, SchemaConflict, StoreError};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use uuid::Uuid;

/// The type of the event that announces an erasure.
pub(crate) const ERASURE: EventType =
    EventType::declared("io.es-framework.PersonalDataErasedEvent");

/// The place of the key store's identity in the schema.
const IDENTITY: &str = "/properties/payload/properties/keyStore/const";

/// The error for a key store that does not belong to the events.
#[doc(hidden)]
#[derive(Debug, thiserror::Error)]
#[error(
    "personal data was sealed with the key store {expected}, and KEY_STORE_URL names the key store {found}: let KEY_STORE_URL name the one with the keys, or restore it"
)]
pub struct OtherKeyStore {
    /// The key store of the events.
    pub expected: Uuid,
    /// The key store of the settings.
    pub found: Uuid,
}

/// Makes sure that all instances seal with the same key store.
#[derive(Debug)]
pub(crate) struct KeyLink {
    store: Arc<dyn EventStore>,
    identity: Uuid,
    linked: OnceCell<()>,
}

impl KeyLink {
    pub(crate) fn new(store: Arc<dyn EventStore>, identity: Uuid) -> Self {
        let linked = OnceCell::new();
        Self {
            store,
            identity,
            linked,
        }
    }

    /// Links the key store before the first event is sealed.
    pub(crate) async fn ensure(&self) -> Result<(), AppendError> {
        let linked = self.linked.get_or_try_init(|| self.link());
        linked.await.map(drop).map_err(AppendError::Store)
    }

    async fn link(&self) -> Result<(), StoreError> {
        let schema = json!({
            "type": "object",
            "properties": {
                "payload": {
                    "type": "object",
                    "properties": { "keyStore": { "const": self.identity } },
                },
            },
        });
        let schema = EventSchema::parse(&schema.to_string());
        let schema = schema.map_err(|error| StoreError::Refused(error.to_string()))?;
        match self.store.register_event_schema(ERASURE, schema).await {
            Ok(()) => Ok(()),
            Err(RegisterError::Conflict(SchemaConflict::Exists)) => self.compare().await,
            // A store of the application's own, without schemas.
            Err(RegisterError::Store(error @ StoreError::Refused(_))) => {
                tracing::warn!(%error, "the events do not name their key store");
                Ok(())
            }
            Err(RegisterError::Store(error)) => Err(error),
            Err(error) => Err(StoreError::Unavailable {
                address: self.store.description(),
                reason: error.to_string(),
            }),
        }
    }

    async fn compare(&self) -> Result<(), StoreError> {
        match find_link(&*self.store).await? {
            Some(expected) if expected != self.identity => {
                let found = self.identity;
                let other = OtherKeyStore { expected, found };
                Err(StoreError::Refused(other.to_string()))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the identity of the key store with which events were sealed.
#[doc(hidden)]
pub async fn find_link(store: &dyn EventStore) -> Result<Option<Uuid>, StoreError> {
    let Some(known) = store.read_event_type(ERASURE).await? else {
        return Ok(None);
    };
    let Some(schema) = known.schema else {
        return Ok(None);
    };
    let corrupt = |reason: String| StoreError::Corrupt {
        address: format!("the schema of {ERASURE}"),
        reason,
    };
    let schema: Value =
        serde_json::from_str(schema.get()).map_err(|error| corrupt(error.to_string()))?;
    let identity = schema.pointer(IDENTITY).and_then(Value::as_str);
    let identity = identity.and_then(|identity| identity.parse().ok());
    identity
        .map(Some)
        .ok_or_else(|| corrupt("it names no key store".to_owned()))
}
