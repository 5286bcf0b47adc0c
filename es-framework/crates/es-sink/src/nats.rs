//! Delivers public events to NATS JetStream, in the structured content mode of the NATS binding of CloudEvents: a message
//! is the JSON that a webhook receives, so readers of both decode the same document.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use async_nats::{
    ConnectOptions, HeaderMap, HeaderValue, ServerAddr,
    connection::State,
    header::NATS_MESSAGE_ID,
    jetstream::{
        Context, ContextBuilder,
        context::{PublishError, PublishErrorKind},
    },
};
use async_trait::async_trait;
use es_store::secret_file::check_owner_only;
use tokio::{sync::Mutex, time::timeout};

use crate::{CloudEvent, DeliveryError, Transport, public_event::MEDIA_TYPE};

/// The time that an event has from its delivery to the acknowledgement, with a new connection if that is necessary.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// The interval of pings. A connection without two answers is lost.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// The settings of a sink that delivers to NATS JetStream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NatsSettings {
    /// The URLs of the servers of one cluster, with commas between them: `nats://host:4222`, or `tls://host:4222` with TLS.
    pub servers: String,
    /// The first part of the NATS subject. The type of the event follows it.
    pub subject: String,
    /// A file with the credentials of a user, as `nsc generate creds` writes it. Only its owner may read it.
    pub credentials_file: Option<PathBuf>,
    /// A file with a token. Only its owner may read it.
    pub token_file: Option<PathBuf>,
    /// A PEM file with the certificates to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
}

/// Delivers events to the stream of a NATS server that takes their NATS subject. It waits until the stream has stored an
/// event before it sends the next one of a delivery.
///
/// The NATS subject is the first part of the settings and the type of the event, because consumers choose events by type. The
/// subject of the event stays inside the message: it may have characters that a NATS subject refuses.
///
/// The id of the event is the header `Nats-Msg-Id`, by which a stream ignores a repetition within its duplicate window.
///
/// ```
/// use es_sink::{NatsSettings, NatsTransport};
///
/// let settings = NatsSettings {
///     servers: "nats://localhost:4222".to_owned(),
///     subject: "library".to_owned(),
///     ..NatsSettings::default()
/// };
/// // The server may be away: the first delivery connects.
/// let transport = NatsTransport::new(settings)?;
/// assert_eq!(format!("{transport:?}"), "nats://localhost:4222");
/// # Ok::<_, String>(())
/// ```
pub struct NatsTransport {
    servers: Vec<ServerAddr>,
    settings: NatsSettings,
    connection: Mutex<Option<Context>>,
}

impl NatsTransport {
    /// Checks settings. It does not connect.
    ///
    /// # Errors
    /// A URL or the NATS subject is invalid, or there are two kinds of credentials.
    pub fn new(settings: NatsSettings) -> Result<Self, String> {
        let servers = settings.servers.split(',').map(parse_server);
        let servers = servers.collect::<Result<_, _>>()?;
        let has_token = |token: &str| {
            !token.is_empty()
                && token
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && !b"*>".contains(&byte))
        };
        let subject = &settings.subject;
        if subject.starts_with('$') || !subject.split('.').all(has_token) {
            return Err(format!(
                "`{subject}` is no NATS subject: use words of ASCII with dots between them, such as `library.events`"
            ));
        }
        if settings.credentials_file.is_some() && settings.token_file.is_some() {
            return Err("it has `credentials_file` or `token_file`, and not both".to_owned());
        }
        Ok(Self {
            servers,
            settings,
            connection: Mutex::default(),
        })
    }

    /// Returns the current connection, or a new one if that is lost.
    async fn connection(&self) -> Result<Context, DeliveryError> {
        let mut connection = self.connection.lock().await;
        let current = connection.as_ref();
        let current = current.filter(|one| one.client().connection_state() == State::Connected);
        if let Some(current) = current {
            return Ok(current.clone());
        }
        // The task of the lost one ends.
        *connection = None;
        let connected = self.connect().await;
        let connected = connected.map_err(|error| {
            DeliveryError::Failed(format!("the connection to {self:?} failed: {error}"))
        })?;
        Ok(connection.insert(connected).clone())
    }

    /// Connects with the credentials that the files have now, so that they can be rotated.
    async fn connect(&self) -> io::Result<Context> {
        // A lost connection tries each server once. Then it ends, and the next delivery makes a new one.
        let mut options = ConnectOptions::new()
            .require_tls(self.servers.iter().any(ServerAddr::tls_required))
            .ping_interval(PING_INTERVAL)
            .max_reconnects(self.servers.len());
        if let Some(file) = &self.settings.ca_file {
            options = options.add_root_certificates(file.clone());
        }
        if let Some(file) = &self.settings.credentials_file {
            options = options.credentials(&read_secret(file)?)?;
        }
        if let Some(file) = &self.settings.token_file {
            options = options.token(read_secret(file)?.trim().to_owned());
        }
        let client = options.connect(self.servers.as_slice()).await;
        let client = client.map_err(io::Error::other)?;
        // `deliver` ends earlier, with its own sentence.
        let limit = DELIVERY_TIMEOUT.saturating_mul(2);
        Ok(ContextBuilder::new().timeout(limit).build(client))
    }

    /// Publishes an event, and waits until a stream has stored it.
    async fn publish(&self, event: &CloudEvent) -> Result<(), DeliveryError> {
        let invalid = |error: &dyn fmt::Display| {
            DeliveryError::Failed(format!("event {} cannot be a message: {error}", event.id))
        };
        let body = serde_json::to_vec(event).map_err(|error| invalid(&error))?;
        let id: HeaderValue = event.id.parse().map_err(|error| invalid(&error))?;
        let mut headers = HeaderMap::new();
        headers.insert(NATS_MESSAGE_ID, id);
        headers.insert("content-type", MEDIA_TYPE);
        let subject = format!("{}.{}", self.settings.subject, event.event_type);
        let connection = self.connection().await?;
        let failed = |error: PublishError| {
            DeliveryError::Failed(match error.kind() {
                PublishErrorKind::StreamNotFound => format!(
                    "{self:?} has no stream for the NATS subject {subject}: add one with the subject `{}.>`, and enable \
                     JetStream",
                    self.settings.subject
                ),
                PublishErrorKind::BrokenPipe => format!("the connection to {self:?} was lost"),
                _ => format!("{self:?} did not store {subject}: {error}"),
            })
        };
        let publishing = connection.publish_with_headers(subject.clone(), headers, body.into());
        let acknowledgement = publishing.await.map_err(failed)?;
        acknowledgement.await.map(drop).map_err(failed)
    }
}

/// Shows the URLs of the servers, which contain no credentials.
impl fmt::Debug for NatsTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.settings.servers)
    }
}

#[async_trait]
impl Transport for NatsTransport {
    async fn deliver(&self, events: &[CloudEvent]) -> Result<(), DeliveryError> {
        // One after the other: if one is lost, no later one of its subject is stored before it.
        for event in events {
            let delivered = timeout(DELIVERY_TIMEOUT, self.publish(event)).await;
            delivered.unwrap_or_else(|_| {
                let seconds = DELIVERY_TIMEOUT.as_secs();
                let text = format!("{self:?} did not acknowledge the event within {seconds} s");
                Err(DeliveryError::Failed(text))
            })?;
        }
        Ok(())
    }
}

fn parse_server(url: &str) -> Result<ServerAddr, String> {
    let server: ServerAddr = url
        .parse()
        .map_err(|error| format!("the URL of a NATS server is invalid: {error}"))?;
    // The error does not repeat a URL that may contain a password.
    if server.has_user_pass() || server.password().is_some() {
        return Err(
            "the URL of a NATS server has no user or password: put them into `credentials_file` or `token_file`"
                .to_owned(),
        );
    }
    if !url.contains("://") || server.is_websocket() || server.host().is_empty() {
        return Err(format!(
            "`{url}` is no NATS server: use `nats://host:4222`, or `tls://host:4222` with TLS"
        ));
    }
    Ok(server)
}

fn read_secret(file: &Path) -> io::Result<String> {
    let read = check_owner_only(file).and_then(|()| fs::read_to_string(file));
    read.map_err(|error| io::Error::other(format!("{}: {error}", file.display())))
}
