//! The settings of the application's own surface: TLS, web pages of others, a rate.

use std::{num::NonZeroU32, path::PathBuf, str::FromStr};

use axum::http::HeaderValue;
use clap::Args;
use reqwest::Url;

use super::{
    auth::RateLimit,
    headers::{Browsers, Origins},
};
use crate::{
    Error, Result,
    net::tls::{ServerTls, TlsFiles},
};

/// How the application is reached.
///
/// ```
/// use clap::Parser as _;
/// use es_framework::{config::Config, http::headers::Origins};
///
/// let config = Config::parse_from(["library-app", "--http-cors-origins", "*"]);
/// assert_eq!(config.surface.http_cors_origins, Some(Origins::All));
/// ```
#[derive(Debug, Clone, Args)]
#[allow(rustdoc::bare_urls, reason = "--help shows them as they stand here")]
pub struct SurfaceSettings {
    /// PEM file with the certificate of this service and those that lead to its root. With it, the
    /// service speaks https only.
    #[arg(long, env = "HTTP_TLS_CERTIFICATE", value_name = "FILE")]
    pub http_tls_certificate: Option<PathBuf>,

    /// PEM file with the private key of the certificate.
    #[arg(long, env = "HTTP_TLS_KEY", value_name = "FILE")]
    pub http_tls_key: Option<PathBuf>,

    /// Origins whose web pages may call, with commas between them, such as http://localhost:3001.
    /// With *, all may; without it, none.
    #[arg(long, env = "HTTP_CORS_ORIGINS", value_name = "ORIGINS")]
    pub http_cors_origins: Option<Origins>,

    /// Requests that each client may send a second. Without it, as many as it likes.
    #[arg(long, env = "HTTP_RATE_LIMIT", value_name = "REQUESTS")]
    pub http_rate_limit: Option<NonZeroU32>,
}

impl SurfaceSettings {
    pub(crate) fn tls(&self) -> Result<Option<ServerTls>> {
        let files = match (&self.http_tls_certificate, &self.http_tls_key) {
            (None, None) => return Ok(None),
            (Some(certificate), Some(key)) => TlsFiles {
                certificate: certificate.clone(),
                key: key.clone(),
            },
            _ => {
                return Err(Error::new(
                    "HTTP_TLS_CERTIFICATE and HTTP_TLS_KEY go together: set both or none",
                ));
            }
        };
        ServerTls::start(files).map(Some)
    }

    pub(crate) fn browsers(&self) -> Browsers {
        Browsers {
            origins: self.http_cors_origins.clone(),
            tls: self.http_tls_certificate.is_some(),
        }
    }

    pub(crate) fn rate(&self) -> Option<RateLimit> {
        self.http_rate_limit.map(RateLimit::per_second)
    }
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
