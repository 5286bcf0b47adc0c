//! What clients may cost, as settings.

use std::{num::NonZeroU32, time::Duration};

use clap::Args;

use crate::{eventql, http::RequestLimits, net};

/// How many headers more than allowed are read, so that the answer can be a problem.
const HEADERS_BEYOND: usize = 36;

/// Bounds on what one client, and all of them together, may take.
///
/// ```
/// use clap::Parser as _;
/// use es_framework::config::Config;
///
/// let config = Config::parse_from(["library-app", "--http-body-limit", "4096"]);
/// assert_eq!(config.limits.http_body_limit.get(), 4096);
/// ```
#[derive(Debug, Clone, Args)]
pub struct LimitSettings {
    /// Longest body of a request, in bytes; a longer one is answered with 413.
    #[arg(
        long,
        env = "HTTP_BODY_LIMIT",
        default_value_t = positive(1_048_576),
        value_name = "BYTES"
    )]
    pub http_body_limit: NonZeroU32,

    /// How long a client may take to send a body; a slower one is answered with 408.
    #[arg(long, env = "HTTP_BODY_SECONDS", default_value_t = positive(20), value_name = "SECONDS")]
    pub http_body_seconds: NonZeroU32,

    /// All headers of a request together, in bytes; longer ones are answered with 431, and a longer
    /// address with 414.
    #[arg(
        long,
        env = "HTTP_HEADERS_LIMIT",
        default_value_t = positive(16_384),
        value_name = "BYTES"
    )]
    pub http_headers_limit: NonZeroU32,

    /// How many headers a request may have; more are answered with 431.
    #[arg(
        long,
        env = "HTTP_HEADER_COUNT_LIMIT",
        default_value_t = positive(64),
        value_name = "COUNT"
    )]
    pub http_header_count_limit: NonZeroU32,

    /// How long the headers of a request may take, and a connection may be idle before them; then it
    /// is closed.
    #[arg(
        long,
        env = "HTTP_HEADERS_SECONDS",
        default_value_t = positive(30),
        value_name = "SECONDS"
    )]
    pub http_headers_seconds: NonZeroU32,

    /// Connections open at once. One more waits until another one ends; those that are idle then end
    /// within a second.
    #[arg(
        long,
        env = "HTTP_CONNECTION_LIMIT",
        default_value_t = positive(480),
        value_name = "COUNT"
    )]
    pub http_connection_limit: NonZeroU32,

    /// Commands and queries that are carried out at once; one more is answered with 503.
    #[arg(
        long,
        env = "HTTP_REQUEST_LIMIT",
        default_value_t = positive(400),
        value_name = "COUNT"
    )]
    pub http_request_limit: NonZeroU32,

    /// How long a request may take from its headers to its answer; a longer one is answered with 503.
    #[arg(
        long,
        env = "HTTP_REQUEST_SECONDS",
        default_value_t = positive(60),
        value_name = "SECONDS"
    )]
    pub http_request_seconds: NonZeroU32,

    /// How long the database may work on one query; a longer one is ended and answered with 503.
    #[arg(long, env = "QUERY_SECONDS", default_value_t = positive(10), value_name = "SECONDS")]
    pub query_seconds: NonZeroU32,

    /// Observers that the embedded event store serves at once; one more is answered with 503.
    #[arg(
        long,
        env = "EVENT_STORE_OBSERVER_LIMIT",
        default_value_t = positive(100),
        value_name = "COUNT"
    )]
    pub event_store_observer_limit: NonZeroU32,

    /// How long an EventQL query of the embedded event store may take.
    #[arg(
        long,
        env = "EVENT_STORE_QUERY_SECONDS",
        default_value_t = positive(60),
        value_name = "SECONDS"
    )]
    pub event_store_query_seconds: NonZeroU32,

    /// How much an EventQL query of the embedded event store may hold in memory, in bytes.
    #[arg(
        long,
        env = "EVENT_STORE_QUERY_MEMORY",
        default_value_t = positive(67_108_864),
        value_name = "BYTES"
    )]
    pub event_store_query_memory: NonZeroU32,
}

impl LimitSettings {
    /// What a request may cost once its head was read.
    pub(crate) fn of_requests(&self) -> RequestLimits {
        RequestLimits {
            body_size: count(self.http_body_limit),
            body_time: seconds(self.http_body_seconds),
            headers_size: count(self.http_headers_limit),
            header_count: count(self.http_header_count_limit),
            requests: count(self.http_request_limit),
            request_time: seconds(self.http_request_seconds),
            ..RequestLimits::default()
        }
    }

    /// What a client may cost before its request reaches a route.
    pub(crate) fn of_connections(&self, drain: Duration) -> net::ConnectionLimits {
        net::ConnectionLimits {
            connections: count(self.http_connection_limit),
            head_time: seconds(self.http_headers_seconds),
            // Here, too, more is read than is allowed.
            head_bytes: count(self.http_headers_limit).saturating_mul(4),
            headers: count(self.http_header_count_limit).saturating_add(HEADERS_BEYOND),
            drain_time: drain,
            ..net::ConnectionLimits::DEFAULT
        }
    }

    /// How long the database may work on one query.
    pub(crate) fn query_time(&self) -> Duration {
        seconds(self.query_seconds)
    }

    /// How many observers the embedded event store serves.
    pub(crate) fn observers(&self) -> usize {
        count(self.event_store_observer_limit)
    }

    /// What an EventQL query may cost.
    pub(crate) fn of_eventql(&self) -> eventql::QueryLimits {
        eventql::QueryLimits {
            time: seconds(self.event_store_query_seconds),
            memory: count(self.event_store_query_memory),
        }
    }
}

const fn positive(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}

fn count(number: NonZeroU32) -> usize {
    usize::try_from(number.get()).unwrap_or(usize::MAX)
}

fn seconds(number: NonZeroU32) -> Duration {
    Duration::from_secs(number.get().into())
}
