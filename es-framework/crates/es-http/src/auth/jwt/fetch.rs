//! Fetches the keys of an issuer from the URL in its discovery document.

use std::time::Duration;

use jsonwebtoken::{
    Algorithm, DecodingKey, Header,
    jwk::{Jwk, KeyOperations, PublicKeyUse},
};
use reqwest::{Client, Url, redirect};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

/// Time for fetching the discovery document and the keys.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest response of an issuer, in bytes.
const MAX_ANSWER: usize = 256 * 1024;
/// Number of keys that are read. Further keys are ignored.
const MAX_KEYS: usize = 100;

/// The reason why the keys cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("{0} does not answer: {1}")]
    Unreachable(Url, String),
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Late,
    #[error("{0} answers with more than {MAX_ANSWER} bytes")]
    TooLong(Url),
    #[error("{0} answers with something else than was expected: {1}")]
    Malformed(Url, serde_json::Error),
    #[error("the issuer calls itself {0}: set AUTH_ISSUER to exactly that if it is the one")]
    OtherIssuer(String),
    #[error("its keys are at {0}, which is neither https:// nor on this machine")]
    Insecure(String),
    #[error("it has no key that could be used")]
    NoKeys,
}

/// A key of the issuer with its algorithm.
#[derive(Debug)]
pub(super) struct IssuerKey {
    id: Option<String>,
    pub(super) decoding: DecodingKey,
    /// `None` allows any algorithm of the key's family.
    algorithm: Option<Algorithm>,
}

/// The keys of an issuer. Several may have one id, for different algorithms (RFC 7517, section 4.5), or none.
#[derive(Debug)]
pub(super) struct IssuerKeys(Vec<IssuerKey>);

impl IssuerKeys {
    /// Returns the keys that may have signed a token with this header. A token without an id names none of them.
    pub(super) fn candidates(&self, header: &Header) -> impl Iterator<Item = &IssuerKey> {
        self.0.iter().filter(|key| {
            (header.kid.is_none() || key.id == header.kid)
                && key.algorithm.is_none_or(|only| only == header.alg)
                && key.decoding.family() == header.alg.family()
        })
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }
}

/// The members of an issuer's OpenID Connect discovery document that are used.
#[derive(Deserialize)]
struct DiscoveryDocument {
    issuer: String,
    jwks_uri: String,
}

/// A JSON Web Key Set (RFC 7517).
#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Value>,
}

/// Creates the HTTP client for requests to the issuer.
pub(super) fn create_client() -> Result<Client, reqwest::Error> {
    es_net::tls::install_cryptography();
    Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(PATIENCE)
        .timeout(PATIENCE)
        .build()
}

pub(super) async fn fetch_keys(
    client: &Client,
    issuer: &str,
    at: &Url,
) -> Result<IssuerKeys, FetchError> {
    let fetched = tokio::time::timeout(PATIENCE, fetch(client, issuer, at)).await;
    fetched.unwrap_or(Err(FetchError::Late))
}

async fn fetch(client: &Client, issuer: &str, at: &Url) -> Result<IssuerKeys, FetchError> {
    let discovery: DiscoveryDocument = get(client, at).await?;
    // OpenID Connect Discovery 1.0, section 4.3: exactly the same.
    if discovery.issuer != issuer {
        return Err(FetchError::OtherIssuer(shown(&discovery.issuer)));
    }
    let keys_at = parse_safe_url(&discovery.jwks_uri);
    let keys_at = keys_at.ok_or_else(|| FetchError::Insecure(shown(&discovery.jwks_uri)))?;
    let set: KeySet = get(client, &keys_at).await?;
    let keys = set.keys.into_iter().take(MAX_KEYS).filter_map(key);
    let keys = IssuerKeys(keys.collect());
    if keys.len() == 0 {
        Err(FetchError::NoKeys)
    } else {
        Ok(keys)
    }
}

async fn get<T: DeserializeOwned>(client: &Client, url: &Url) -> Result<T, FetchError> {
    let failed = |error: reqwest::Error| {
        FetchError::Unreachable(url.clone(), error.without_url().to_string())
    };
    let answer = client.get(url.clone()).send().await;
    let answer = answer.and_then(reqwest::Response::error_for_status);
    let mut answer = answer.map_err(failed)?;
    let mut text = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(failed)? {
        if text.len().saturating_add(chunk.len()) > MAX_ANSWER {
            return Err(FetchError::TooLong(url.clone()));
        }
        text.extend_from_slice(&chunk);
    }
    serde_json::from_slice(&text).map_err(|error| FetchError::Malformed(url.clone(), error))
}

/// Parses a URL that uses https, or http on this machine. Nobody on the network can impersonate it.
pub(super) fn parse_safe_url(text: &str) -> Option<Url> {
    let url: Url = text.parse().ok()?;
    let host = url.host_str()?;
    let is_here = match host.trim_matches(['[', ']']).parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost",
    };
    (url.scheme() == "https" || url.scheme() == "http" && is_here).then_some(url)
}

fn shown(text: &str) -> String {
    let text: String = text.chars().take(200).collect();
    text.escape_debug().to_string()
}

/// Returns a key that verifies signatures (RFC 7517, sections 4.2 and 4.3). Other keys and unknown kinds of keys are
/// ignored.
fn key(value: Value) -> Option<IssuerKey> {
    let jwk: Jwk = serde_json::from_value(value).ok()?;
    let (usage, operations) = (&jwk.common.public_key_use, &jwk.common.key_operations);
    let verifies = usage
        .as_ref()
        .is_none_or(|usage| *usage == PublicKeyUse::Signature)
        && operations
            .as_ref()
            .is_none_or(|all| all.contains(&KeyOperations::Verify));
    if !verifies {
        return None;
    }
    let algorithm = match jwk.common.key_algorithm {
        None => None,
        Some(algorithm) => Some(Algorithm::try_from(algorithm).ok()?),
    };
    Some(IssuerKey {
        decoding: DecodingKey::from_jwk(&jwk).ok()?,
        id: jwk.common.key_id,
        algorithm,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_over_tls_or_from_this_machine() {
        for safe in [
            "https://login.example.com/realms/library",
            "http://127.0.0.1:8080/",
            "http://[::1]:8080/",
            "http://localhost:8080",
        ] {
            assert!(parse_safe_url(safe).is_some(), "{safe}");
        }
        for unsafe_one in [
            "http://login.example.com/",
            "http://localhost.example.com/",
            "http://127.0.0.1.example.com/",
            "file:///etc/passwd",
            "login.example.com",
            "",
        ] {
            assert!(parse_safe_url(unsafe_one).is_none(), "{unsafe_one}");
        }
    }
}
