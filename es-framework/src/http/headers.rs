//! Headers of every answer: what a browser may do with it, and from where it may ask.

use std::{str::FromStr, time::Duration};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use reqwest::Url;
use tower_http::cors::{Any, CorsLayer};

/// How long a browser may keep to what it was told.
const PREFLIGHT_AGE: Duration = Duration::from_secs(60 * 60);

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
/// An answer is no page: nothing in it is loaded, and nothing frames it.
const NO_PAGE: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
/// A year, as the preload lists of browsers ask for.
const ONLY_TLS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// From where browsers may ask.
///
/// ```
/// use es_framework::http::headers::Origins;
///
/// assert_eq!("*".parse(), Ok(Origins::All));
/// assert!(matches!("http://localhost:3001".parse(), Ok(Origins::These(origins)) if origins.len() == 1));
/// assert!("localhost".parse::<Origins>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    /// From pages of these origins.
    These(Vec<HeaderValue>),
    /// From every page. Callers still have to prove who they are.
    All,
}

impl FromStr for Origins {
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

/// An origin as browsers send it (RFC 6454, section 6.2): anything else would never match.
fn origin(text: &str) -> Result<HeaderValue, String> {
    let text = text.trim();
    let url = text.parse().ok();
    let is_origin = url.is_some_and(|url: Url| url.origin().ascii_serialization() == text);
    let is_origin = is_origin && !text.contains('*');
    let value = HeaderValue::from_str(text).ok().filter(|_| is_origin);
    value.ok_or_else(|| {
        let text = text.escape_debug();
        format!("{text} is no origin: write a scheme, a host and nothing after it but a port, in small letters, such as https://library.example.com")
    })
}

/// What is said to browsers.
///
/// ```
/// use es_framework::http::headers::{BrowserPolicy, Origins};
///
/// let open = BrowserPolicy { origins: Some(Origins::All), tls: false };
/// assert_ne!(open.origins, BrowserPolicy::default().origins);
/// ```
#[derive(Debug, Clone, Default)]
pub struct BrowserPolicy {
    /// From where they may ask, besides pages of the service itself.
    pub origins: Option<Origins>,
    /// Whether the service is reached by TLS, and is to be reached by nothing else.
    pub tls: bool,
}

/// Has every answer say what a browser may do with it.
pub(super) fn secure(headers: &mut HeaderMap, tls: bool) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(header::REFERRER_POLICY, NO_REFERRER);
    // A page says itself what it loads.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(NO_PAGE);
    if tls {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, ONLY_TLS);
    }
}

/// Has answers say from where browsers may ask.
pub(super) fn cors(origins: Origins) -> CorsLayer {
    let name = HeaderName::from_static;
    let layer = CorsLayer::new()
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_MATCH,
            header::IF_NONE_MATCH,
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
        ])
        .max_age(PREFLIGHT_AGE);
    match origins {
        Origins::These(origins) => layer.allow_origin(origins),
        Origins::All => layer.allow_origin(Any),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_taken_as_browsers_send_them() {
        let parsed: Origins = "https://library.example.com, http://localhost:3001"
            .parse()
            .unwrap();
        let values = ["https://library.example.com", "http://localhost:3001"];
        let values = values.map(HeaderValue::from_static).to_vec();
        assert_eq!(parsed, Origins::These(values));
        assert_eq!("*".parse(), Ok(Origins::All));
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
            let error = text.parse::<Origins>().unwrap_err();
            assert!(error.contains("is no origin"), "{text}: {error}");
        }
    }
}
