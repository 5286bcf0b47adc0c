//! The command line and the environment variables behind [`Settings`].

mod conversion;

use std::{net::IpAddr, num::NonZeroU32, path::PathBuf};

use axum::http::HeaderName;
use clap::Parser;

use super::{EventStoreUrl, KeyStoreUrl, PUBLIC_RATE_LIMIT, Secret};
use crate::{
    event::{Dialect, HashVersion},
    http::AllowedOrigins,
    projection::DatabaseUrl,
    telemetry::LogFormat,
};

/// The flags of every application.
#[derive(Debug, Clone, Parser)]
// Otherwise `--help` would show this comment.
#[command(about = "An event-sourced application.", long_about = None)]
#[allow(
    rustdoc::bare_urls,
    reason = "--help shows the URLs as they stand here"
)]
pub(crate) struct SettingsArguments {
    /// Port that the application listens on.
    #[arg(long, env = "HTTP_PORT", default_value_t = 8080)]
    http_port: u16,

    /// Address that the application listens on; 0.0.0.0 is reachable from other machines.
    #[arg(long, env = "HTTP_HOST", default_value = "127.0.0.1")]
    http_host: IpAddr,

    /// File with the tokens of callers, as `token create` writes it. With it, every request needs a
    /// token.
    #[arg(long, env = "AUTH_TOKENS_FILE", value_name = "FILE")]
    auth_tokens_file: Option<PathBuf>,

    /// Issuer of tokens (OpenID Connect), such as http://localhost:8180/realms/library. With it,
    /// every request needs a token.
    #[arg(long, env = "AUTH_ISSUER", value_name = "URL")]
    auth_issuer: Option<String>,

    /// Audience of this service in tokens of the issuer. Tokens for other audiences are refused.
    #[arg(long, env = "AUTH_AUDIENCE", value_name = "NAME")]
    auth_audience: Option<String>,

    /// The claim that holds a caller's roles, such as scope or realm_access.roles.
    #[arg(
        long,
        env = "AUTH_ROLES_CLAIM",
        value_name = "NAME",
        default_value = "roles"
    )]
    auth_roles_claim: String,

    /// The claim that holds the id of what belongs to a caller, such as sub or reader_id: a text or an integer.
    #[arg(
        long,
        env = "AUTH_OWNER_CLAIM",
        value_name = "NAME",
        default_value = "sub"
    )]
    auth_owner_claim: String,

    /// Lets everyone call, even on an address that other machines reach: for a service behind a
    /// proxy that authenticates its callers.
    #[arg(long, env = "HTTP_OPEN")]
    http_open: bool,

    /// Writes the name of the caller into the metadata of each event, under caller.
    #[arg(long, env = "EVENT_METADATA_CALLER")]
    event_metadata_caller: bool,

    /// PEM file with the certificate of this service and those that lead to its root. With it, the
    /// service speaks https only.
    #[arg(long, env = "HTTP_TLS_CERTIFICATE", value_name = "FILE")]
    http_tls_certificate: Option<PathBuf>,

    /// PEM file with the private key of the certificate.
    #[arg(long, env = "HTTP_TLS_KEY", value_name = "FILE")]
    http_tls_key: Option<PathBuf>,

    /// Origins whose web pages may call, separated by commas, such as http://localhost:3001. With *,
    /// all may call; without it, none.
    #[arg(long, env = "HTTP_CORS_ORIGINS", value_name = "ORIGINS")]
    http_cors_origins: Option<AllowedOrigins>,

    /// Highest number of requests that each client may send a second. Without it, there is no limit.
    #[arg(long, env = "HTTP_RATE_LIMIT", value_name = "REQUESTS")]
    http_rate_limit: Option<NonZeroU32>,

    /// Highest number of requests without a token that each address may send a second to public commands and
    /// queries. Behind a proxy, all clients have one address.
    #[arg(long, env = "HTTP_PUBLIC_RATE_LIMIT", default_value_t = PUBLIC_RATE_LIMIT)]
    http_public_rate_limit: NonZeroU32,

    /// Event store to use: http://localhost:3000 for one that speaks the EventSourcingDB protocol (commas
    /// separate several servers that share their events),
    /// postgres://user:password@host-1,host-2/database for PostgreSQL. Without it, an event store is
    /// embedded.
    #[arg(
        long,
        env = "EVENT_STORE_URL",
        hide_env_values = true,
        value_name = "URL"
    )]
    event_store_url: Option<EventStoreUrl>,

    /// API token of the event store, which operators send, too. If it is missing, the first start
    /// with an embedded event store or PostgreSQL writes a new token to EVENT_STORE_DATA_DIR.
    #[arg(
        long,
        env = "EVENT_STORE_API_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true
    )]
    event_store_api_token: Option<Secret>,

    /// PEM file with certificates to trust besides the system's, for an event store behind https.
    #[arg(long, env = "EVENT_STORE_CA_FILE", value_name = "FILE")]
    event_store_ca_file: Option<PathBuf>,

    /// Port of the embedded event store's own HTTP API.
    #[arg(long, env = "EVENT_STORE_PORT", default_value_t = 3000)]
    event_store_port: u16,

    /// Address of the embedded event store's own HTTP API.
    #[arg(long, env = "EVENT_STORE_HOST", default_value = "127.0.0.1")]
    event_store_host: IpAddr,

    /// Shape in which the embedded event store sends events: item as before version 1.0 of the
    /// protocol, event as official clients of version 1.0 and later expect.
    #[arg(long, env = "EVENT_STORE_DIALECT", default_value_t)]
    event_store_dialect: Dialect,

    /// Version in which the embedded event store computes the hashes of new events: 1, which all
    /// clients verify, or 2, which needs the dialect event. Stored events keep their hashes.
    #[arg(long, env = "EVENT_STORE_HASH_VERSION", default_value_t)]
    event_store_hash_version: HashVersion,

    /// Folder of the embedded event store. With PostgreSQL as event store, the instance remembers the end of
    /// the log there, so that the next start notices lost events.
    #[arg(
        long,
        env = "EVENT_STORE_DATA_DIR",
        default_value = "./data",
        value_name = "FOLDER"
    )]
    event_store_data_dir: PathBuf,

    /// Database with the keys of persons, whose personal data the events hold sealed: a file such as
    /// sqlite:keys.sqlite, or postgres://user:password@host/database for several instances. Without it, a file
    /// beside EVENT_STORE_DATA_DIR, with its name and .keys.sqlite. It belongs into no backup of the events.
    #[arg(
        long,
        env = "KEY_STORE_URL",
        hide_env_values = true,
        value_name = "URL"
    )]
    key_store_url: Option<KeyStoreUrl>,

    /// File with the master keys that wrap the keys of persons, one on each line as `openssl rand -base64 32`
    /// prints it. The first one wraps all keys from the start on; the others unwrap those of earlier starts.
    #[arg(long, env = "KEY_STORE_MASTER_KEY_FILE", value_name = "FILE")]
    key_store_master_key_file: Option<PathBuf>,

    /// Database of the read models: sqlite::memory: holds up to 1 GiB and is rebuilt from the events
    /// at each start. A file such as sqlite:books.db keeps the read models across restarts, and so does
    /// postgres://user:password@host/name.
    #[arg(
        long,
        env = "DATABASE_URL",
        hide_env_values = true,
        default_value_t,
        value_name = "URL"
    )]
    database_url: DatabaseUrl,

    /// Database of the tasks that reactions have to execute: a file such as sqlite:state.sqlite, or
    /// postgres://user:password@host/database for several instances. Without it, the database of the events
    /// where that is PostgreSQL, otherwise state.sqlite in EVENT_STORE_DATA_DIR.
    #[arg(
        long,
        env = "STATE_DATABASE_URL",
        hide_env_values = true,
        value_name = "URL"
    )]
    state_database_url: Option<DatabaseUrl>,

    /// File that names the sinks of public events, such as webhooks. Without it, no event leaves.
    #[arg(long, env = "SINKS_FILE", value_name = "FILE")]
    sinks_file: Option<PathBuf>,

    /// Source of every published event. Without it, the application's name. An event store of
    /// version 1.0 or later wants a URI, such as tag:library-service.
    #[arg(long, env = "EVENT_SOURCE", value_name = "NAME")]
    event_source: Option<String>,

    /// Headers of a request that go into the metadata of its events, such as
    /// x-request-id,x-correlation-id. Without it, none.
    #[arg(
        long,
        env = "EVENT_METADATA_HEADERS",
        value_name = "NAMES",
        value_delimiter = ','
    )]
    event_metadata_headers: Vec<HeaderName>,

    /// Serves the console at /console: for the browser that opens the link of the start on this machine,
    /// otherwise for operators alone. true, unless the program was compiled without the console.
    #[arg(long, env = "CONSOLE", value_name = "BOOLEAN")]
    console: Option<bool>,

    /// Highest number of open live queries; one more is answered with 503.
    #[arg(
        long,
        env = "LIVE_QUERIES",
        default_value_t = 64,
        value_name = "NUMBER"
    )]
    live_queries: u16,

    /// File with snapshots of the states of long subjects, created when it is needed. Without it,
    /// snapshots.sqlite in the folder of the embedded event store.
    #[arg(long, env = "SNAPSHOT_FILE", value_name = "FILE")]
    snapshot_file: Option<PathBuf>,

    /// Time that open requests and calls of reactions get to finish when the application shuts down,
    /// in seconds.
    #[arg(
        long,
        env = "SHUTDOWN_TIMEOUT",
        default_value_t = 10,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(..=3600)
    )]
    shutdown_timeout: u64,

    /// Format of the log: text for people, json for programs.
    #[arg(long, env = "LOG_FORMAT", value_enum, default_value_t)]
    log_format: LogFormat,

    /// Lowest level that is logged: error, warn, info, debug or trace. Modules may have their own
    /// level, as in info,es_framework::http=debug, which logs each request.
    #[arg(
        long,
        env = "RUST_LOG",
        value_name = "FILTER",
        default_value = "info",
        hide_env_values = true
    )]
    log_filter: String,

    /// Collector that receives traces as OTLP over HTTP, such as http://localhost:4318. Without it,
    /// the program collects no traces.
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL")]
    otel_exporter_otlp_endpoint: Option<String>,

    /// Longest body of a request, in bytes; a longer one is answered with 413.
    #[arg(
        long,
        env = "HTTP_BODY_LIMIT",
        default_value_t = positive(1_048_576),
        value_name = "BYTES"
    )]
    http_body_limit: NonZeroU32,

    /// Time in which a client has to send a body; a slower one is answered with 408.
    #[arg(long, env = "HTTP_BODY_SECONDS", default_value_t = positive(20), value_name = "SECONDS")]
    http_body_seconds: NonZeroU32,

    /// Length of all headers of a request together, in bytes; longer ones are answered with 431, and a longer
    /// address with 414.
    #[arg(
        long,
        env = "HTTP_HEADERS_LIMIT",
        default_value_t = positive(16_384),
        value_name = "BYTES"
    )]
    http_headers_limit: NonZeroU32,

    /// Highest number of headers of a request; more are answered with 431.
    #[arg(
        long,
        env = "HTTP_HEADER_COUNT_LIMIT",
        default_value_t = positive(64),
        value_name = "COUNT"
    )]
    http_header_count_limit: NonZeroU32,

    /// Time in which the headers of a request have to arrive on an open connection; after it, the
    /// connection is closed.
    #[arg(
        long,
        env = "HTTP_HEADERS_SECONDS",
        default_value_t = positive(30),
        value_name = "SECONDS"
    )]
    http_headers_seconds: NonZeroU32,

    /// Highest number of open connections. One more waits until another one ends; idle connections
    /// then end within a second.
    #[arg(
        long,
        env = "HTTP_CONNECTION_LIMIT",
        default_value_t = positive(480),
        value_name = "COUNT"
    )]
    http_connection_limit: NonZeroU32,

    /// Highest number of commands and queries at a time; one more is answered with 503.
    #[arg(
        long,
        env = "HTTP_REQUEST_LIMIT",
        default_value_t = positive(400),
        value_name = "COUNT"
    )]
    http_request_limit: NonZeroU32,

    /// Part, in percent, that one caller may use at once of HTTP_REQUEST_LIMIT, LIVE_QUERIES and the expensive
    /// statements of the database; beyond it, a query is answered with 429. A caller is the bearer of a
    /// token, or without authentication an address. Set it to 100 behind a proxy that hides the addresses
    /// of callers, because all of them then count as one.
    #[arg(
        long,
        env = "HTTP_CALLER_SHARE",
        default_value_t = 50,
        value_parser = clap::value_parser!(u8).range(1..=100),
        value_name = "PERCENT"
    )]
    http_caller_share: u8,

    /// Longest time from the headers of a request to its response; a longer one is answered with 503.
    #[arg(
        long,
        env = "HTTP_REQUEST_SECONDS",
        default_value_t = positive(60),
        value_name = "SECONDS"
    )]
    http_request_seconds: NonZeroU32,

    /// Longest time of a query in the database; a longer one is stopped and answered with 503.
    #[arg(long, env = "QUERY_SECONDS", default_value_t = positive(10), value_name = "SECONDS")]
    query_seconds: NonZeroU32,

    /// Highest number of subscribers of the embedded event store; one more is answered with 503.
    #[arg(
        long,
        env = "EVENT_STORE_OBSERVER_LIMIT",
        default_value_t = positive(100),
        value_name = "COUNT"
    )]
    event_store_observer_limit: NonZeroU32,

    /// Longest time of an EventQL query of the embedded event store.
    #[arg(
        long,
        env = "EVENT_STORE_QUERY_SECONDS",
        default_value_t = positive(60),
        value_name = "SECONDS"
    )]
    event_store_query_seconds: NonZeroU32,

    /// Highest memory use of an EventQL query of the embedded event store, in bytes.
    #[arg(
        long,
        env = "EVENT_STORE_QUERY_MEMORY",
        default_value_t = positive(67_108_864),
        value_name = "BYTES"
    )]
    event_store_query_memory: NonZeroU32,
}

const fn positive(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}

#[cfg(test)]
mod tests;
