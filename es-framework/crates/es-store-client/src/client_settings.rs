//! The settings of the client.

use std::{fmt, time::Duration};

use super::reconnect::ReconnectPolicy;

/// The address of an event store, and the timeouts and limits of its client.
///
/// ```
/// use std::time::Duration;
///
/// use es_store_client::ClientSettings;
///
/// let mut settings = ClientSettings::new("https://events.example.com", "secret");
/// settings.request_time = Duration::from_secs(5);
/// assert_eq!(format!("{settings:?}"), "ClientSettings { .. }"); // never shows the token
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ClientSettings {
    /// The base URL, such as `http://localhost:3000`. Commas separate several servers that share their
    /// events: requests go to the next one while one is away.
    pub url: String,
    /// The API token of the event store.
    pub api_token: String,
    /// Certificates to trust in addition to the system's, as PEM text.
    pub certificates: Vec<u8>,
    /// The time for establishing a connection.
    pub connect_time: Duration,
    /// The time for a write, a registration, a look-up, and each step of a health check.
    pub request_time: Duration,
    /// The longest silence of a read or a list, starting with its request.
    pub read_silence: Duration,
    /// The longest silence of an observation. The server sends a heartbeat every second.
    pub observe_silence: Duration,
    /// The policy by which an observation reconnects after an outage.
    pub reconnect: ReconnectPolicy,
    /// Checks that neighbouring events of a stream are linked by their hashes. The client always checks
    /// the hash of each event itself.
    pub verify_chain: bool,
    /// The longest accepted line of a stream or description of an event type, in bytes.
    pub line_limit: usize,
    /// The longest accepted response to a write, in bytes.
    pub response_limit: usize,
}

impl ClientSettings {
    /// Creates the default settings for a store at this URL.
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
            reconnect: ReconnectPolicy::default(),
            verify_chain: true,
            line_limit: 16 * 1024 * 1024,
            response_limit: 64 * 1024 * 1024,
        }
    }
}

impl fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Hides the token and a URL that may contain a password.
        f.debug_struct("ClientSettings").finish_non_exhaustive()
    }
}

/// The errors of settings that cannot work.
///
/// ```
/// use es_store_client::{ClientSettings, EventSourcingDbStore, InvalidClientSettings};
///
/// let settings = ClientSettings::new("http://localhost:3000", "two words");
/// let error = EventSourcingDbStore::new(settings).err();
/// assert_eq!(error, Some(InvalidClientSettings::ApiToken));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidClientSettings {
    /// The URL is invalid or has an unsupported scheme.
    #[error(
        "the event store's URL must be like http://host:3000 or https://host/path, without credentials, query or fragment; separate several servers by commas"
    )]
    Url,
    /// The token cannot be sent in a header.
    #[error("the event store's API token must be visible ASCII characters without spaces")]
    ApiToken,
    /// The certificates are not PEM text.
    #[error("the certificates to trust are not valid PEM text: {0}")]
    Certificates(String),
    /// The HTTP client does not start.
    #[error("the HTTP client cannot be set up: {0}")]
    HttpClient(String),
}
