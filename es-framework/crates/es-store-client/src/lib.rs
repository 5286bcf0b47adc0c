//! A client of event stores that speak EventSourcingDB's HTTP API: version 2, or version 1 in both
//! protocol generations. The first request asks the server for version 2, and a health check asks again.
//!
//! An append, a read, a look-up and a health check are one attempt each and end in time. The caller
//! decides about a retry, because only the caller knows if a retry is safe. A response of 429 or 503
//! becomes [`StoreError::Unavailable`] with its `Retry-After` in the text. An observation reconnects
//! itself: see [`ReconnectPolicy`]. If several servers share their events, requests go to the next one while
//! one is away. Only a request that cannot have reached its server is sent again.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod api_version;
mod append_request;
mod append_stream;
mod availability;
mod client_settings;
mod detected_version;
mod event_reader;
mod http_client;
mod line_reader;
mod listing_reader;
mod observation;
mod preconditions;
mod reconnect;
mod refusal;
mod register;
mod request_bodies;
mod server_list;
mod subject_reader;

#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use es_event::{EventCandidate, EventType, RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog, EventSchema, EventStream, EventTypeStream, KnownEventType,
    ObserveOptions, Precondition, ReadOptions, RegisterError, StoreCatalog, StoreError,
    SubjectStream,
};

use http_client::StoreHttpClient;

pub use client_settings::{ClientSettings, InvalidClientSettings};
pub use reconnect::ReconnectPolicy;

/// A client of an event store that speaks the protocol of EventSourcingDB. Clones share connections.
///
/// ```
/// use es_store_client::{EventSourcingDbStore, ClientSettings};
///
/// let settings = ClientSettings::new("http://localhost:3000", "secret");
/// assert!(EventSourcingDbStore::new(settings).is_ok());
/// assert!(EventSourcingDbStore::new(ClientSettings::new("localhost", "secret")).is_err());
/// ```
#[derive(Clone)]
pub struct EventSourcingDbStore {
    http_client: Arc<StoreHttpClient>,
}

impl EventSourcingDbStore {
    /// Creates a client. It sends no request yet.
    ///
    /// # Errors
    /// The settings are invalid.
    pub fn new(settings: ClientSettings) -> Result<Self, InvalidClientSettings> {
        let http_client = Arc::new(StoreHttpClient::new(settings)?);
        Ok(Self { http_client })
    }
}

impl fmt::Debug for EventSourcingDbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventSourcingDbStore({})", self.http_client.address)
    }
}

#[async_trait]
impl EventLog for EventSourcingDbStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        append_request::append(&self.http_client, candidates, &preconditions).await
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        event_reader::read_events(Arc::clone(&self.http_client), subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        observation::observe_subject(Arc::clone(&self.http_client), subject, options)
    }
}

#[async_trait]
impl StoreCatalog for EventSourcingDbStore {
    fn read_subjects(&self, base: Subject) -> SubjectStream {
        subject_reader::read_subjects(Arc::clone(&self.http_client), base)
    }

    fn read_event_types(&self) -> EventTypeStream {
        subject_reader::read_event_types(Arc::clone(&self.http_client))
    }

    async fn read_event_type(
        &self,
        event_type: EventType,
    ) -> Result<Option<KnownEventType>, StoreError> {
        subject_reader::read_event_type(&self.http_client, event_type).await
    }

    async fn register_event_schema(
        &self,
        event_type: EventType,
        schema: EventSchema,
    ) -> Result<(), RegisterError> {
        register::register_schema(&self.http_client, &event_type, &schema).await
    }

    async fn health(&self) -> Result<(), StoreError> {
        availability::ping_and_verify_token(&self.http_client).await
    }

    fn description(&self) -> String {
        format!("EventSourcingDB at {}", self.http_client.address)
    }
}
