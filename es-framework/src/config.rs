//! The settings of an application: flags, with environment variables behind them.

use std::{fmt, net::IpAddr, path::PathBuf};

use axum::http::HeaderName;
use clap::Parser;

use crate::{
    http::{auth::AuthSettings, settings::SurfaceSettings},
    projection::DatabaseUrl,
    telemetry::TelemetrySettings,
};
pub use crate::{limits::LimitSettings, server::DialectName};

/// An event-sourced application.
///
/// ```
/// use clap::Parser as _;
/// use es_framework::config::Config;
///
/// let config = Config::parse_from(["library-app", "--http-port", "8081"]);
/// assert_eq!(config.http_port, 8081);
/// ```
#[derive(Debug, Clone, Parser)]
// Otherwise `--help` would show the example.
#[command(about = "An event-sourced application.", long_about = None)]
pub struct Config {
    /// Port that the application listens on.
    #[arg(long, env = "HTTP_PORT", default_value_t = 8080)]
    pub http_port: u16,

    /// Address that the application listens on; 0.0.0.0 is reachable from other machines.
    #[arg(long, env = "HTTP_HOST", default_value = "127.0.0.1")]
    pub http_host: IpAddr,

    /// Who may call.
    #[command(flatten)]
    pub auth: AuthSettings,

    /// How it is reached.
    #[command(flatten)]
    pub surface: SurfaceSettings,

    /// Event store to use, such as http://localhost:3000. Without it, an event store is embedded.
    #[arg(long, env = "EVENT_STORE_URL", value_name = "URL")]
    pub event_store_url: Option<String>,

    /// Credential of the event store. Embedded: generated once and kept beside the data.
    #[arg(
        long,
        env = "EVENT_STORE_API_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true
    )]
    pub event_store_api_token: Option<Secret>,

    /// PEM file with certificates to trust besides the system's, for an event store behind https.
    #[arg(long, env = "EVENT_STORE_CA_FILE", value_name = "FILE")]
    pub event_store_ca_file: Option<PathBuf>,

    /// Port of the embedded event store's own HTTP API.
    #[arg(long, env = "EVENT_STORE_PORT", default_value_t = 3000)]
    pub event_store_port: u16,

    /// Address of the embedded event store's own HTTP API.
    #[arg(long, env = "EVENT_STORE_HOST", default_value = "127.0.0.1")]
    pub event_store_host: IpAddr,

    /// Shape in which the embedded event store sends events: item as before version 1.0 of the
    /// protocol, event as official clients of version 1.0 and later expect.
    #[arg(long, env = "EVENT_STORE_DIALECT", value_enum, default_value_t)]
    pub event_store_dialect: DialectName,

    /// Folder of the embedded event store.
    #[arg(
        long,
        env = "EVENT_STORE_DATA_DIR",
        default_value = "./data",
        value_name = "FOLDER"
    )]
    pub event_store_data_dir: PathBuf,

    /// Database of the read models: sqlite::memory: holds up to 1 GiB and is rebuilt from the events
    /// at each start, a file such as sqlite:books.db goes on where it ended, and so does
    /// postgres://user:password@host/name.
    #[arg(
        long,
        env = "DATABASE_URL",
        hide_env_values = true,
        default_value_t,
        value_name = "URL"
    )]
    pub database_url: DatabaseUrl,

    /// Source of every published event. Without it, the application's name. An event store of
    /// version 1.0 or later wants a URI, such as tag:library-service.
    #[arg(long, env = "EVENT_SOURCE", value_name = "NAME")]
    pub event_source: Option<String>,

    /// Headers of a request that go into the metadata of its events, such as
    /// x-request-id,x-correlation-id. Without it, none.
    #[arg(
        long,
        env = "EVENT_METADATA_HEADERS",
        value_name = "NAMES",
        value_delimiter = ','
    )]
    pub event_metadata_headers: Vec<HeaderName>,

    /// How many live queries may be open at once; the next one is answered 503.
    #[arg(
        long,
        env = "LIVE_QUERIES",
        default_value_t = 64,
        value_name = "NUMBER"
    )]
    pub live_queries: u16,

    /// File with snapshots of the states of long subjects; made when it is needed. Without it,
    /// snapshots.sqlite in the folder of the embedded event store.
    #[arg(long, env = "SNAPSHOT_FILE", value_name = "FILE")]
    pub snapshot_file: Option<PathBuf>,

    /// How long open requests may go on once the application is told to stop, in seconds.
    #[arg(
        long,
        env = "SHUTDOWN_TIMEOUT",
        default_value_t = 10,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(..=3600)
    )]
    pub shutdown_timeout: u64,

    /// The log and traces.
    #[command(flatten)]
    pub telemetry: TelemetrySettings,

    /// What clients may cost.
    #[command(flatten)]
    pub limits: LimitSettings,
}

impl Config {
    /// The file with snapshots.
    pub(crate) fn snapshots(&self) -> PathBuf {
        let beside_the_events = || self.event_store_data_dir.join("snapshots.sqlite");
        self.snapshot_file.clone().unwrap_or_else(beside_the_events)
    }
}

/// A text that never shows in logs.
///
/// ```
/// use es_framework::config::Secret;
///
/// let token: Secret = "hunter2".parse()?;
/// assert_eq!((token.reveal(), format!("{token:?}")), ("hunter2", "***".to_owned()));
/// # Ok::<_, es_framework::config::InvalidSecret>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// The text itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for Secret {
    type Err = InvalidSecret;

    fn from_str(text: &str) -> Result<Self, InvalidSecret> {
        let fits = !text.is_empty()
            && text.len() <= 1024
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits {
            Ok(Self(text.into()))
        } else {
            Err(InvalidSecret)
        }
    }
}

/// A text that cannot be sent as a credential.
///
/// ```
/// use es_framework::config::{InvalidSecret, Secret};
///
/// assert_eq!("two words".parse::<Secret>(), Err(InvalidSecret));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token is 1 to 1024 visible ASCII characters")]
pub struct InvalidSecret;

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_specification() {
        let config = Config::try_parse_from(["library-app"]).unwrap();
        assert_eq!((config.http_port, config.event_store_port), (8080, 3000));
        assert!(config.http_host.is_loopback());
        assert_eq!(config.event_store_dialect, DialectName::Item);
    }

    #[test]
    fn examples_are_for_developers_and_not_for_operators() {
        let help = <Config as clap::CommandFactory>::command().render_long_help();
        let help = help.to_string();
        assert!(help.starts_with("An event-sourced application."), "{help}");
        assert!(!help.contains("```"), "{help}");
    }

    #[test]
    fn a_token_never_shows() {
        let secret: Secret = "hunter2".parse().unwrap();
        assert_eq!(format!("{secret:?}"), "***");
        assert!("with blank".parse::<Secret>().is_err());
    }

    #[test]
    fn a_wrong_value_names_the_setting() {
        let error = Config::try_parse_from(["library-app", "--http-port", "70000"]).unwrap_err();
        assert!(error.to_string().contains("--http-port"), "{error}");
    }
}
