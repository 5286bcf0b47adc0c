//! A real issuer on a real socket: it publishes its keys and signs with them.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use axum::{Json, Router, extract::State, http::StatusCode, routing::get};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    hmac,
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
        RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair,
    },
};
use serde_json::{Value, json};

use super::super::{Issuer, IssuerSettings};

/// A signing key.
pub(super) enum SigningKey {
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

pub(super) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl SigningKey {
    pub(super) fn ec() -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let text = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self::Ec(EcdsaKeyPair::from_pkcs8(algorithm, text.as_ref(), &random).unwrap())
    }

    pub(super) fn ed() -> Self {
        let text = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed(Ed25519KeyPair::from_pkcs8(text.as_ref()).unwrap())
    }

    /// A key for these tests, because ring cannot generate RSA keys.
    pub(super) fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::from_der(include_bytes!("../fixtures/rsa.der")).unwrap())
    }

    /// Returns the key in the form that the issuer publishes.
    pub(super) fn jwk(&self, id: &str) -> Value {
        match self {
            Self::Ec(key) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "kid": id, "use": "sig", "x": encoded(x), "y": encoded(y) })
            }
            Self::Ed(key) => {
                let x = encoded(key.public_key());
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "alg": "EdDSA", "x": x })
            }
            Self::Rsa(key) => {
                let PublicKeyComponents { n, e } =
                    PublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({ "kty": "RSA", "kid": id, "n": encoded(n), "e": encoded(e), "x5t": "7" })
            }
        }
    }

    pub(super) fn public(&self) -> Vec<u8> {
        match self {
            Self::Ec(key) => key.public_key().as_ref().to_vec(),
            Self::Ed(key) => key.public_key().as_ref().to_vec(),
            Self::Rsa(key) => key.public().as_ref().to_vec(),
        }
    }

    fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            _ if algorithm == "HS256" => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, &self.public());
                hmac::sign(&key, message).as_ref().to_vec()
            }
            _ if algorithm == "none" => Vec::new(),
            Self::Ec(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Ed(key) => key.sign(message).as_ref().to_vec(),
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                let scheme: &dyn ring::signature::RsaEncoding = match algorithm {
                    "PS256" => &RSA_PSS_SHA256,
                    _ => &RSA_PKCS1_SHA256,
                };
                key.sign(scheme, &random, message, &mut signature).unwrap();
                signature
            }
        }
    }

    /// Returns a token with this header and these claims.
    pub(super) fn token(&self, header: &Value, claims: &Value) -> String {
        let message = format!(
            "{}.{}",
            encoded(header.to_string()),
            encoded(claims.to_string())
        );
        let algorithm = header["alg"].as_str().unwrap_or_default();
        let signature = self.sign(algorithm, message.as_bytes());
        format!("{message}.{}", encoded(signature))
    }
}

#[derive(Default)]
struct PublishedKeys {
    keys: Mutex<Vec<Value>>,
    away: AtomicBool,
    asked: AtomicUsize,
    name: Mutex<String>,
}

/// The issuer.
pub(super) struct Login {
    pub(super) url: String,
    published: Arc<PublishedKeys>,
}

impl Login {
    pub(super) async fn start(keys: &[Value]) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/realms/library", listener.local_addr().unwrap());
        let published = Arc::new(PublishedKeys::default());
        let router = Router::new()
            .route(
                "/realms/library/.well-known/openid-configuration",
                get(discovery),
            )
            .route("/keys", get(keys_of))
            .with_state(Arc::clone(&published));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let login = Self { url, published };
        login.publish(keys);
        login.call_itself(&login.url);
        login
    }

    pub(super) fn publish(&self, keys: &[Value]) {
        *self.published.keys.lock().unwrap() = keys.to_vec();
    }

    pub(super) fn go_away(&self, away: bool) {
        self.published.away.store(away, Ordering::SeqCst);
    }

    pub(super) fn call_itself(&self, name: &str) {
        name.clone_into(&mut self.published.name.lock().unwrap());
    }

    /// Returns the number of requests for the keys.
    pub(super) fn asked(&self) -> usize {
        self.published.asked.load(Ordering::SeqCst)
    }

    /// Returns a service that trusts the issuer.
    pub(super) fn trusted(&self) -> Arc<Issuer> {
        let settings = IssuerSettings {
            issuer: self.url.clone(),
            audience: "library".into(),
            roles_claim: "roles".into(),
            owner_claim: "sub".into(),
        };
        Arc::new(Issuer::new(settings).unwrap())
    }

    /// Returns the same service without a pause between two requests to the issuer.
    pub(super) fn trusted_without_pause(&self) -> Arc<Issuer> {
        let mut issuer = Arc::into_inner(self.trusted()).unwrap();
        issuer.pause = std::time::Duration::ZERO;
        Arc::new(issuer)
    }
}

async fn discovery(State(published): State<Arc<PublishedKeys>>) -> Result<Json<Value>, StatusCode> {
    if published.away.load(Ordering::SeqCst) {
        return Err(StatusCode::BAD_GATEWAY);
    }
    let name = published.name.lock().unwrap().clone();
    let host = name.split("/realms").next().unwrap_or_default();
    Ok(Json(
        json!({ "issuer": name, "jwks_uri": format!("{host}/keys") }),
    ))
}

async fn keys_of(State(published): State<Arc<PublishedKeys>>) -> Json<Value> {
    published.asked.fetch_add(1, Ordering::SeqCst);
    let keys = published.keys.lock().unwrap().clone();
    Json(json!({ "keys": keys }))
}
