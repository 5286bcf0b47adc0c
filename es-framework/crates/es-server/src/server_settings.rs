//! The settings of the event store's HTTP API.

use std::time::Duration;

use super::signing::SigningKey;
use es_event::{Dialect, RecordedEvent};
use es_eventql::QueryLimits;
use es_net::ApiToken;

/// The longest body of a request, and so the largest write of one event, in bytes.
pub(crate) const BODY_LIMIT: usize = 8 * 1024 * 1024;

/// The settings of an event store's HTTP API.
///
/// ```
/// use std::time::Duration;
///
/// use es_event::Dialect;
/// use es_server::ServerSettings;
///
/// let mut settings = ServerSettings::new("secret".parse()?);
/// settings.dialect = Dialect::Event;
/// settings.drain_time = Duration::from_secs(2);
/// # Ok::<_, es_server::InvalidApiToken>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerSettings {
    /// The token that every request except a ping must carry.
    pub api_token: ApiToken,
    /// The format of events in responses.
    pub dialect: Dialect,
    /// The key that signs events in responses, if the dialect has a field for signatures.
    pub signing_key: Option<SigningKey>,
    /// The longest body of a request, in bytes.
    pub body_limit: usize,
    /// The largest number of events, and of preconditions, in one write.
    pub events_limit: usize,
    /// The time in which the body of a request must arrive, and in which a write must end.
    pub request_time: Duration,
    /// The time after which an idle observer, or a query without rows, receives a heartbeat.
    pub heartbeat: Duration,
    /// The time and memory limits of a query.
    pub query_limits: QueryLimits,
    /// The largest number of queries at once. The memory limit holds for each of them.
    pub queries_limit: usize,
    /// The largest number of observers at once.
    pub observers_limit: usize,
    /// The time that open requests have to end after the server starts to shut down.
    pub drain_time: Duration,
}

impl ServerSettings {
    /// Creates the default settings with this token.
    #[must_use]
    pub const fn new(api_token: ApiToken) -> Self {
        Self {
            api_token,
            dialect: Dialect::Item,
            signing_key: None,
            body_limit: BODY_LIMIT,
            events_limit: 10_000,
            request_time: Duration::from_secs(30),
            // The official clients give up after three to thirty seconds of silence, and one of them
            // expects more than three heartbeats within ten seconds.
            heartbeat: Duration::from_secs(1),
            query_limits: QueryLimits::DEFAULT,
            queries_limit: 8,
            observers_limit: 100,
            drain_time: Duration::from_secs(10),
        }
    }

    /// Returns the signature of an event, if there is a key and the dialect has a field for signatures.
    pub(super) fn signature_of(&self, event: &RecordedEvent, dialect: Dialect) -> Option<String> {
        let key = self.signing_key.as_ref()?;
        (dialect == Dialect::Event)
            .then(|| key.sign(&event.hash))
            .flatten()
    }
}
