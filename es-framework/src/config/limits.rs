//! The limits that follow from the settings, and the check of headers that carry credentials.

use super::Settings;
use es_net as net;

use crate::{Error, Result, http::RequestLimits};

/// Number of headers beyond the limit that are still read, so that the response can name the limit.
const EXTRA_HEADERS: usize = 36;

/// Request headers whose values are credentials. Events are stored for ever and many can read them.
const CREDENTIAL_HEADERS: [&str; 12] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "x-auth-token",
    "x-access-token",
    "x-csrf-token",
    "x-xsrf-token",
    "x-forwarded-access-token",
    "x-amz-security-token",
];

impl Settings {
    /// Checks that no header with a credential is copied into events.
    pub(super) fn check_metadata_headers(&self) -> Result<()> {
        let names = &self.event_metadata_headers;
        let credential = names
            .iter()
            .find(|name| CREDENTIAL_HEADERS.contains(&name.as_str()));
        match credential {
            Some(name) => Err(Error::new(format!(
                "EVENT_METADATA_HEADERS names {name}, which holds a credential: events are stored for ever, so leave it out"
            ))),
            None => Ok(()),
        }
    }

    /// Checks that no limit is zero, since such an application would answer nothing.
    pub(super) fn check_limits(&self) -> Result<()> {
        let limits = [
            ("http_body_limit", self.http_body_limit == 0),
            ("http_body_seconds", self.http_body_seconds.is_zero()),
            ("http_headers_limit", self.http_headers_limit == 0),
            ("http_header_count_limit", self.http_header_count_limit == 0),
            ("http_headers_seconds", self.http_headers_seconds.is_zero()),
            ("http_connection_limit", self.http_connection_limit == 0),
            ("http_request_limit", self.http_request_limit == 0),
            ("http_caller_share", self.http_caller_share == 0),
            ("http_request_seconds", self.http_request_seconds.is_zero()),
            ("query_seconds", self.query_seconds.is_zero()),
            (
                "event_store_observer_limit",
                self.event_store_observer_limit == 0,
            ),
            (
                "event_store_query_seconds",
                self.event_store_query_seconds.is_zero(),
            ),
            (
                "event_store_query_memory",
                self.event_store_query_memory == 0,
            ),
        ];
        match limits.iter().find(|(_, is_zero)| *is_zero) {
            Some((name, _)) => Err(Error::new(format!(
                "the setting {name} is 0: choose a positive value"
            ))),
            None => Ok(()),
        }
    }

    /// The limits of a request after its headers are read.
    pub(crate) fn request_limits(&self) -> RequestLimits {
        RequestLimits {
            body_size: self.http_body_limit,
            body_time: self.http_body_seconds,
            headers_size: self.http_headers_limit,
            header_count: self.http_header_count_limit,
            requests: self.http_request_limit,
            caller_share: self.http_caller_share,
            request_time: self.http_request_seconds,
            ..RequestLimits::default()
        }
    }

    /// The limits of a connection.
    pub(crate) fn connection_limits(&self) -> net::ConnectionLimits {
        net::ConnectionLimits {
            connections: self.http_connection_limit,
            head_time: self.http_headers_seconds,
            // More is read than is allowed, so that the response can name the limit.
            head_bytes: self.http_headers_limit.saturating_mul(4),
            headers: self.http_header_count_limit.saturating_add(EXTRA_HEADERS),
            drain_time: self.shutdown_timeout,
            ..net::ConnectionLimits::DEFAULT
        }
    }

    /// The source of events: the application's name, unless the settings name another one.
    pub(crate) fn source<'a>(&'a self, name: &'a str) -> &'a str {
        self.event_source.as_deref().unwrap_or(name)
    }

    /// The limits of an EventQL query.
    #[cfg(any(feature = "console", feature = "server"))]
    pub(crate) fn eventql_limits(&self) -> es_eventql::QueryLimits {
        es_eventql::QueryLimits {
            time: self.event_store_query_seconds,
            memory: self.event_store_query_memory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_with_a_credential_stays_out_of_events() {
        let with = |name: &'static str| {
            let name = axum::http::HeaderName::from_static(name);
            Settings::default().event_metadata_headers(vec![name])
        };
        assert!(with("x-request-id").check_metadata_headers().is_ok());
        for name in CREDENTIAL_HEADERS {
            let error = with(name).check_metadata_headers().unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn a_limit_of_zero_is_refused_by_its_name() {
        assert!(Settings::default().check_limits().is_ok());
        let settings = Settings::default().http_request_limit(0);
        let error = settings.check_limits().unwrap_err().to_string();
        assert_eq!(
            error,
            "the setting http_request_limit is 0: choose a positive value"
        );
    }
}
