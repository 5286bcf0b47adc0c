//! Headers of every response that tell browsers what they may do, and cross-origin requests.

use std::{str::FromStr, time::Duration};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};
use url::Url;

use super::{
    operator_paths::OperatorPaths,
    query_response::{HELD_ROWS, READ_MODEL_STOPPED_AT},
};

/// Time that a browser may cache the response of a preflight request.
const PREFLIGHT_AGE: Duration = Duration::from_secs(60 * 60);

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
/// A response is not a page: browsers load nothing in it and show it in no frame.
const NO_PAGE: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
/// One year, as the preload lists of browsers require.
const ONLY_TLS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The origins whose pages may call the service.
///
/// ```
/// use es_http::AllowedOrigins;
///
/// assert_eq!("*".parse(), Ok(AllowedOrigins::All));
/// assert!(matches!("http://localhost:3001".parse(), Ok(AllowedOrigins::These(origins)) if origins.len() == 1));
/// assert!("localhost".parse::<AllowedOrigins>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedOrigins {
    /// Only pages of these origins.
    These(Vec<HeaderValue>),
    /// All pages. Callers still have to authenticate.
    All,
}

impl FromStr for AllowedOrigins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::All);
        }
        text.split(',')
            .map(origin)
            .collect::<Result<_, _>>()
            .map(Self::These)
    }
}

/// Parses an origin as browsers send it (RFC 6454, section 6.2). Another spelling would never match.
fn origin(text: &str) -> Result<HeaderValue, String> {
    let text = text.trim();
    let url: Option<Url> = text.parse().ok();
    let is_canonical = url.is_some_and(|url| url.origin().ascii_serialization() == text);
    let is_origin = is_canonical && !text.contains('*');
    let value = HeaderValue::from_str(text).ok().filter(|_| is_origin);
    value.ok_or_else(|| {
        let shown = text.escape_debug();
        format!("{shown} is no origin: write a scheme, a host and nothing after it but a port, in small letters, such as https://library.example.com")
    })
}

/// The rules that responses give to browsers.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct BrowserPolicy {
    /// The origins whose pages may call the service, in addition to its own.
    pub origins: Option<AllowedOrigins>,
    /// True if browsers must use TLS to reach the service.
    pub tls: bool,
    /// True if only requests to this machine's own names are answered, such as `localhost`. A service that is
    /// open to everyone on this machine is then not open to the pages of a domain whose name leads here.
    pub local_hosts_only: bool,
}

/// Adds the security headers to a response.
pub(super) fn add_security_headers(headers: &mut HeaderMap, tls: bool) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(header::REFERRER_POLICY, NO_REFERRER);
    // A page sets its own policy.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(NO_PAGE);
    if tls {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, ONLY_TLS);
    }
}

/// Returns the layer that answers cross-origin requests. What operators use is for pages of this service only.
pub(super) fn cors_layer(origins: AllowedOrigins, operator_paths: OperatorPaths) -> CorsLayer {
    let name = HeaderName::from_static;
    let layer = CorsLayer::new()
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_MATCH,
            header::IF_NONE_MATCH,
            name("event-occurred-at"),
            name("event-position"),
            name("idempotency-key"),
            name("last-event-id"),
            name("prefer"),
            name("traceparent"),
            name("tracestate"),
        ])
        .expose_headers([
            header::ETAG,
            header::LOCATION,
            header::RETRY_AFTER,
            header::WWW_AUTHENTICATE,
            name("event-position"),
            READ_MODEL_STOPPED_AT,
            HELD_ROWS,
        ])
        .max_age(PREFLIGHT_AGE);
    layer.allow_origin(AllowOrigin::predicate(move |origin, request| {
        let is_allowed = match &origins {
            AllowedOrigins::These(origins) => origins.contains(origin),
            AllowedOrigins::All => true,
        };
        is_allowed && !operator_paths.contains(request.uri.path())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_taken_as_browsers_send_them() {
        let parsed: AllowedOrigins = "https://library.example.com, http://localhost:3001"
            .parse()
            .unwrap();
        let values = ["https://library.example.com", "http://localhost:3001"];
        let values = values.map(HeaderValue::from_static).to_vec();
        assert_eq!(parsed, AllowedOrigins::These(values));
        assert_eq!("*".parse(), Ok(AllowedOrigins::All));
    }

    #[test]
    fn what_would_never_match_is_refused() {
        for text in [
            "",
            "null",
            "library.example.com",
            "https://library.example.com/",
            "https://library.example.com/page",
            "https://Library.example.com",
            "https://library.example.com:443",
            "https://*.example.com",
            "https://library.example.com,*",
            "https://a.example.com\r\nx: y",
        ] {
            let error = text.parse::<AllowedOrigins>().unwrap_err();
            assert!(error.contains("is no origin"), "{text}: {error}");
        }
    }
}
