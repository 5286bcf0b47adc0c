//! An event store behind EventSourcingDB's HTTP API, version 1, in either generation of it.
//!
//! An append, a read, a look-up or a health check is one attempt and ends within its time: whoever asked
//! knows best whether to ask again, and a read that was begun cannot be begun anew unseen. A 429 or
//! 503 is told as [`StoreError::Unavailable`], its `Retry-After` in the text. An observation lasts,
//! so it comes back by itself: see [`Reconnect`].

mod append;
mod catalogue;
mod connection;
mod health;
mod lines;
mod observation;
mod reconnect;
mod register;
mod rows;
mod streams;
mod wire;

#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use reqwest::Url;

use super::{
    AppendError, EventSchema, EventStore, EventStream, EventTypeStream, KnownEventType,
    ObserveOptions, Precondition, ReadOptions, RegisterError, StoreError, SubjectStream,
};
use crate::event::{EventCandidate, EventType, RecordedEvent, Subject};

use connection::Connection;

pub use reconnect::Reconnect;

/// Where the event store is and how long to wait for it.
///
/// ```
/// use std::time::Duration;
///
/// use es_framework::store::eventsourcingdb::Settings;
///
/// let mut settings = Settings::new("https://events.example.com", "secret");
/// settings.request_time = Duration::from_secs(5);
/// assert_eq!(format!("{settings:?}"), "Settings { .. }"); // the token is never shown
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Its base URL, such as `http://localhost:3000`.
    pub url: String,
    /// The secret it was started with.
    pub api_token: String,
    /// Certificates to trust besides the system's, as PEM text.
    pub certificates: Vec<u8>,
    /// How long a connection may take to be established.
    pub connect_time: Duration,
    /// How long a write, a registration, a look-up, and each step of a health check, may take as a
    /// whole.
    pub request_time: Duration,
    /// How long a read or a list may be silent, from its request on.
    pub read_silence: Duration,
    /// How long an observation may be silent: a sign of life is due every second.
    pub observe_silence: Duration,
    /// How an observation goes on after its server was away.
    pub reconnect: Reconnect,
    /// Whether neighbouring events of a stream are checked to be linked by their hashes. The hash
    /// of each event by itself is always checked.
    pub verify_chain: bool,
    /// The longest line of a stream, or description of an event type, that is taken, in bytes.
    pub line_limit: usize,
    /// The longest answer to a write that is taken, in bytes.
    pub answer_limit: usize,
}

impl Settings {
    /// The default settings for a store at this URL.
    #[must_use]
    pub fn new(url: impl Into<String>, api_token: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            api_token: api_token.into(),
            certificates: Vec::new(),
            connect_time: Duration::from_secs(5),
            request_time: Duration::from_secs(30),
            read_silence: Duration::from_secs(30),
            observe_silence: Duration::from_secs(10),
            reconnect: Reconnect::default(),
            verify_chain: true,
            line_limit: 16 * 1024 * 1024,
            answer_limit: 64 * 1024 * 1024,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither the token nor a URL that may hold a password.
        f.debug_struct("Settings").finish_non_exhaustive()
    }
}

/// Settings that no store can be reached with.
///
/// ```
/// use es_framework::store::eventsourcingdb::{EventSourcingDbStore, InvalidSettings, Settings};
///
/// let settings = Settings::new("http://localhost:3000", "two words");
/// assert_eq!(EventSourcingDbStore::new(settings).err(), Some(InvalidSettings::ApiToken));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSettings {
    /// The URL is none, or of another kind.
    #[error(
        "the event store's URL must be like http://host:3000 or https://host/path, without credentials, query or fragment"
    )]
    Url,
    /// The token cannot stand in a header.
    #[error("the event store's API token must be visible ASCII characters without spaces")]
    ApiToken,
    /// The certificates are not PEM text.
    #[error("the certificates to trust are not valid PEM text: {0}")]
    Certificates(String),
    /// The HTTP client does not start.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(String),
}

/// A client of an EventSourcingDB, or of anything that speaks its protocol. Cheap to clone.
///
/// ```
/// use es_framework::store::eventsourcingdb::{EventSourcingDbStore, Settings};
///
/// let settings = Settings::new("http://localhost:3000", "secret");
/// assert!(EventSourcingDbStore::new(settings).is_ok());
/// assert!(EventSourcingDbStore::new(Settings::new("localhost", "secret")).is_err());
/// ```
#[derive(Clone)]
pub struct EventSourcingDbStore {
    connection: Arc<Connection>,
}

impl EventSourcingDbStore {
    /// A client with these settings. Nothing is sent yet.
    ///
    /// # Errors
    /// The settings cannot be right.
    pub fn new(settings: Settings) -> Result<Self, InvalidSettings> {
        let connection = Arc::new(Connection::new(settings)?);
        Ok(Self { connection })
    }
}

/// The base that the routes are joined to.
fn base_url(text: &str) -> Result<Url, InvalidSettings> {
    let mut url: Url = text.parse().map_err(|_| InvalidSettings::Url)?;
    let plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !plain || !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(InvalidSettings::Url);
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

impl fmt::Debug for EventSourcingDbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventSourcingDbStore({})", self.connection.address)
    }
}

#[async_trait]
impl EventStore for EventSourcingDbStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        append::append(&self.connection, candidates, &preconditions).await
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        streams::read(Arc::clone(&self.connection), subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        observation::observe(Arc::clone(&self.connection), subject, options)
    }

    fn read_subjects(&self, base: Subject) -> SubjectStream {
        catalogue::read_subjects(Arc::clone(&self.connection), base)
    }

    fn read_event_types(&self) -> EventTypeStream {
        catalogue::read_event_types(Arc::clone(&self.connection))
    }

    async fn read_event_type(
        &self,
        event_type: EventType,
    ) -> Result<Option<KnownEventType>, StoreError> {
        catalogue::read_event_type(&self.connection, event_type).await
    }

    async fn register_event_schema(
        &self,
        event_type: EventType,
        schema: EventSchema,
    ) -> Result<(), RegisterError> {
        register::register(&self.connection, &event_type, &schema).await
    }

    async fn health(&self) -> Result<(), StoreError> {
        health::check(&self.connection).await
    }

    fn description(&self) -> String {
        format!("EventSourcingDB at {}", self.connection.address)
    }
}
