//! The settings of the framework: the plain struct [`Settings`], and the flags and environment
//! variables behind it.

mod arguments;
mod authentication;
mod event_store_url;
mod features;
mod key_store_url;
mod limits;

use std::{
    net::{IpAddr, Ipv4Addr},
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Duration,
};

use axum::http::HeaderName;
use es_store::secret_file::with_suffix;

pub(crate) use arguments::SettingsArguments;
pub use es_net::{InvalidSecret, Secret};
pub use event_store_url::EventStoreUrl;
pub use key_store_url::{InvalidKeyStoreUrl, KeyStoreUrl};

use crate::{
    event::{Dialect, HashVersion},
    http::AllowedOrigins,
    projection::DatabaseUrl,
    telemetry::{LogFormat, TelemetrySettings},
};

/// The default of `http_public_rate_limit`.
const PUBLIC_RATE_LIMIT: NonZeroU32 = NonZeroU32::MIN.saturating_add(19);

/// Declares each setting once: its field, its default and its setter.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr,)*) => {
        /// The settings of an application. Each has the name of its environment variable in small
        /// letters, except `log_filter`, whose variable is `RUST_LOG`.
        ///
        /// ```
        /// use es_framework::Settings;
        ///
        /// let settings = Settings::default().http_port(0).event_store_port(0);
        /// assert_eq!(settings.http_port, 0);
        /// assert!(settings.http_host.is_loopback());
        /// ```
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub struct Settings {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl Settings {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, $name: $type) -> Self {
                    self.$name = $name;
                    self
                }
            )*
        }
    };
}

settings! {
    /// Port that the application listens on; 0 chooses a free one.
    http_port: u16 = 8080,
    /// Address that the application listens on.
    http_host: IpAddr = Ipv4Addr::LOCALHOST.into(),
    /// File with the bearer tokens of callers. With it, every request needs a token, except those to
    /// what is public.
    auth_tokens_file: Option<PathBuf> = None,
    /// Issuer of OpenID Connect tokens. With it, every request needs a token, except those to what is public.
    auth_issuer: Option<String> = None,
    /// Name of this service at the issuer.
    auth_audience: Option<String> = None,
    /// Claim of a token that holds the caller's roles.
    auth_roles_claim: String = "roles".to_owned(),
    /// The claim with the owner id of a caller.
    auth_owner_claim: String = "sub".to_owned(),
    /// Lets everyone call on an address that other machines reach.
    http_open: bool = false,
    /// Writes the name of the caller into the metadata of each event.
    event_metadata_caller: bool = false,
    /// PEM file with the certificate chain of this service. With it, the service speaks https only.
    http_tls_certificate: Option<PathBuf> = None,
    /// PEM file with the private key of the certificate.
    http_tls_key: Option<PathBuf> = None,
    /// Origins whose web pages may call the service.
    http_cors_origins: Option<AllowedOrigins> = None,
    /// Requests a second that each client may send.
    http_rate_limit: Option<NonZeroU32> = None,
    /// Requests without a token a second that each address may send to public commands and queries, if the service
    /// authenticates its callers.
    http_public_rate_limit: NonZeroU32 = PUBLIC_RATE_LIMIT,
    /// URL of the event store. Without it, an event store is embedded.
    event_store_url: Option<EventStoreUrl> = None,
    /// API token of the event store, which also authorizes operators.
    event_store_api_token: Option<Secret> = None,
    /// PEM file with certificates to trust in addition to the system's, for an event store behind https.
    event_store_ca_file: Option<PathBuf> = None,
    /// Port of the embedded event store's HTTP API; 0 chooses a free one.
    event_store_port: u16 = 3000,
    /// Address of the embedded event store's HTTP API.
    event_store_host: IpAddr = Ipv4Addr::LOCALHOST.into(),
    /// Format in which the embedded event store sends events.
    event_store_dialect: Dialect = Dialect::Item,
    /// Version in which the embedded event store computes the hashes of new events.
    event_store_hash_version: HashVersion = HashVersion::V1,
    /// Folder of the embedded event store and of the generated API token.
    event_store_data_dir: PathBuf = PathBuf::from("./data"),
    /// The database with the keys of persons; by default a SQLite file beside the data folder.
    key_store_url: Option<KeyStoreUrl> = None,
    /// File with the master keys that wrap the keys of persons, the current one first.
    key_store_master_key_file: Option<PathBuf> = None,
    /// Database of the read models.
    database_url: DatabaseUrl = DatabaseUrl::default(),
    /// Database of the tasks of reactions. Without it, the database of the events where that is PostgreSQL, otherwise
    /// `state.sqlite` in `event_store_data_dir`.
    state_database_url: Option<DatabaseUrl> = None,
    /// File that names the sinks of public events. Needs the feature `webhook`.
    sinks_file: Option<PathBuf> = None,
    /// Source of every published event. Without it, the application's name.
    event_source: Option<String> = None,
    /// Request headers that are copied into the metadata of events.
    event_metadata_headers: Vec<HeaderName> = Vec::new(),
    /// True to serve the console. Needs the feature `console`.
    console: bool = cfg!(feature = "console"),
    /// Number of live queries that may be open at once.
    live_queries: u16 = 64,
    /// File with snapshots of long subjects. Without it, `snapshots.sqlite` in the folder of the
    /// embedded event store.
    snapshot_file: Option<PathBuf> = None,
    /// Time that open requests and calls of reactions have to end after a shutdown began.
    shutdown_timeout: Duration = Duration::from_secs(10),
    /// Format of the log. Only `App::run` starts a log.
    log_format: LogFormat = LogFormat::Text,
    /// Filter of the log, such as `info,es_framework::http=debug`.
    log_filter: String = "info".to_owned(),
    /// Collector of traces that speaks OTLP over HTTP. Only `App::run` exports traces.
    otel_exporter_otlp_endpoint: Option<String> = None,
    /// Longest body of a request, in bytes.
    http_body_limit: usize = 1_048_576,
    /// Time that a client has to send a body.
    http_body_seconds: Duration = Duration::from_secs(20),
    /// Size of all headers of a request together, in bytes.
    http_headers_limit: usize = 16_384,
    /// Number of headers that a request may have.
    http_header_count_limit: usize = 64,
    /// Time that a client has to send the headers of a request.
    http_headers_seconds: Duration = Duration::from_secs(30),
    /// Number of connections that may be open at once.
    http_connection_limit: usize = 480,
    /// Number of commands and queries that may run at once.
    http_request_limit: usize = 400,
    /// The part, in percent, that one caller may use at once of the queries, the live queries and the expensive
    /// statements of the database.
    http_caller_share: u8 = 50,
    /// Time from the headers of a request to its response.
    http_request_seconds: Duration = Duration::from_secs(60),
    /// Time that the database may spend on one query.
    query_seconds: Duration = Duration::from_secs(10),
    /// Number of subscribers that the embedded event store may serve at once.
    event_store_observer_limit: usize = 100,
    /// Time that one EventQL query of the embedded event store may take.
    event_store_query_seconds: Duration = Duration::from_secs(60),
    /// Memory that one EventQL query of the embedded event store may use, in bytes.
    event_store_query_memory: usize = 67_108_864,
}

impl Settings {
    /// Reads the environment variables and takes the defaults for the rest. The command line is not
    /// read.
    ///
    /// ```
    /// use es_framework::Settings;
    ///
    /// let settings = Settings::from_env()?.http_port(0);
    /// assert_eq!(settings.http_port, 0);
    /// # Ok::<_, es_framework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A variable has a wrong value; the error names it.
    pub fn from_env() -> crate::Result<Self> {
        SettingsArguments::from_environment().map(Self::from)
    }

    /// Returns the folder of the embedded event store. An error does not show the value, because a URL may
    /// contain a password.
    pub(crate) fn data_folder(&self) -> crate::Result<&Path> {
        let folder = &self.event_store_data_dir;
        if folder.to_str().is_some_and(|text| text.contains("://")) {
            return Err(crate::Error::new(
                "EVENT_STORE_DATA_DIR is a URL and not a folder: write it to EVENT_STORE_URL",
            ));
        }
        Ok(folder)
    }

    /// The database with the keys of persons.
    pub(crate) fn key_store_url_or_default(&self) -> KeyStoreUrl {
        let beside_data = || {
            let folder = &self.event_store_data_dir;
            // Without a slash at the end, behind which the file would be inside. A name such as `.` says nothing.
            let folder = match folder.file_name() {
                Some(_) => folder.components().collect(),
                None => folder.canonicalize().unwrap_or_else(|_| folder.clone()),
            };
            KeyStoreUrl::File(with_suffix(&folder, "keys.sqlite"))
        };
        self.key_store_url.clone().unwrap_or_else(beside_data)
    }

    /// Refuses keys in the folder of the events, whose copies would hold both.
    pub(crate) fn check_key_store_file(&self) -> crate::Result<()> {
        let (KeyStoreUrl::File(file), None) =
            (self.key_store_url_or_default(), &self.event_store_url)
        else {
            return Ok(());
        };
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = real(&absolute(&self.event_store_data_dir));
        let file = absolute(&file);
        if !real(file.parent().unwrap_or(&file)).starts_with(&folder) {
            return Ok(());
        }
        Err(crate::Error::new(format!(
            "{} would lie in the folder of the events, {}, whose copies would hold the keys of persons: let KEY_STORE_URL name a file outside of it",
            file.display(),
            folder.display()
        )))
    }

    /// The file with snapshots.
    pub(crate) fn snapshot_path(&self) -> PathBuf {
        let default = || self.event_store_data_dir.join("snapshots.sqlite");
        self.snapshot_file.clone().unwrap_or_else(default)
    }

    pub(crate) fn telemetry_settings(&self) -> TelemetrySettings {
        TelemetrySettings {
            log_format: self.log_format,
            log_filter: self.log_filter.clone(),
            otel_exporter_otlp_endpoint: self.otel_exporter_otlp_endpoint.clone(),
        }
    }
}
