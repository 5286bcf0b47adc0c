//! JWTs of a real issuer on a real socket, and forgeries of every part of them.

use std::{
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::support::{Library, book, client, eventually, json_of};
use axum::{Json, Router, routing::get, serve::Listener};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use reqwest::StatusCode;
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use rustls::ServerConfig;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use uuid::Uuid;

pub(super) struct Issuer {
    url: String,
    key: EcdsaKeyPair,
}

/// Accepts only encrypted connections.
struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs()
}

impl Issuer {
    pub(super) async fn start() -> Self {
        Self::serve(None).await
    }

    /// Uses a certificate that the system does not trust and that this file contains.
    async fn start_encrypted(certificate: &Path) -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        std::fs::write(certificate, made.cert.pem()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![made.cert.der().clone()],
                made.signing_key.serialize_der().try_into().unwrap(),
            );
        Self::serve(Some(TlsAcceptor::from(Arc::new(config.unwrap())))).await
    }

    async fn serve(tls: Option<TlsAcceptor>) -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let text = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(algorithm, text.as_ref(), &random).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let url = match &tls {
            Some(_) => format!("https://localhost:{}", address.port()),
            None => format!("http://{address}"),
        };
        let discovery = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") });
        let (x, y) = key.public_key().as_ref()[1..].split_at(32);
        let (x, y) = (encoded(x), encoded(y));
        let keys =
            json!({ "keys": [{ "kty": "EC", "crv": "P-256", "kid": "k1", "x": x, "y": y }] });
        let router = Router::new()
            .route(
                "/.well-known/openid-configuration",
                get(async || Json(discovery)),
            )
            .route("/keys", get(async || Json(keys)));
        tokio::spawn(async move {
            match tls {
                Some(acceptor) => axum::serve(TlsListener { listener, acceptor }, router).await,
                None => axum::serve(listener, router).await,
            }
        });
        Self { url, key }
    }

    pub(super) fn claims(&self, roles: &[&str]) -> Value {
        json!({
            "iss": self.url,
            "aud": "library",
            "sub": "alice",
            "realm_access": { "roles": roles },
            "exp": now() + 300,
        })
    }

    pub(super) fn token(&self, head: &Value, claims: &Value) -> String {
        let message = format!(
            "{}.{}",
            encoded(head.to_string()),
            encoded(claims.to_string())
        );
        let signature = self.key.sign(&SystemRandom::new(), message.as_bytes());
        format!("{message}.{}", encoded(signature.unwrap()))
    }

    fn library(&self, folder: &tempfile::TempDir) -> Library {
        self.library_with(folder, &[])
    }

    pub(super) fn library_with(
        &self,
        folder: &tempfile::TempDir,
        more: &[(&str, &str)],
    ) -> Library {
        let settings = [
            ("AUTH_ISSUER", self.url.as_str()),
            ("AUTH_AUDIENCE", "library"),
            ("AUTH_ROLES_CLAIM", "realm_access.roles"),
            ("EVENT_METADATA_CALLER", "true"),
        ];
        let settings: Vec<_> = settings.iter().chain(more).copied().collect();
        Library::embedded_with(&folder.path().join("data"), &settings)
    }
}

async fn purchase(library: &Library, token: &str) -> reqwest::Response {
    let request = client()
        .post(format!("{}/books/purchase", library.url))
        .bearer_auth(token)
        .header("content-type", "application/json")
        .body(book(Uuid::new_v4()).to_string());
    request.send().await.unwrap()
}

pub(super) fn with(claims: &Value, name: &str, value: impl Into<Value>) -> Value {
    let mut claims = claims.clone();
    claims[name] = value.into();
    claims
}

#[tokio::test]
async fn the_issuers_tokens_open_what_their_roles_say_and_forgeries_open_nothing() {
    let (issuer, folder) = (Issuer::start().await, tempfile::tempdir().unwrap());
    let library = issuer.library(&folder);
    let head = json!({ "alg": "ES256", "kid": "k1" });
    let staff = issuer.claims(&["staff"]);
    let token = issuer.token(&head, &staff);
    assert_eq!(
        purchase(&library, &token).await.status(),
        StatusCode::CREATED
    );
    let reader = issuer.token(&head, &issuer.claims(&["reader"]));
    assert_eq!(
        purchase(&library, &reader).await.status(),
        StatusCode::FORBIDDEN
    );
    let none = json!({ "alg": "none", "kid": "k1" });
    let hmac = json!({ "alg": "HS256", "kid": "k1" });
    let unknown = json!({ "alg": "ES256", "kid": "k2" });
    let (signed, _) = token.rsplit_once('.').unwrap();
    for (what, forgery) in [
        ("alg none", issuer.token(&none, &staff)),
        (
            "alg none, no signature",
            format!(
                "{}.{}.",
                encoded(none.to_string()),
                encoded(staff.to_string())
            ),
        ),
        ("HMAC", issuer.token(&hmac, &staff)),
        ("an unknown key", issuer.token(&unknown, &staff)),
        (
            "expired",
            issuer.token(&head, &with(&staff, "exp", now() - 120)),
        ),
        (
            "not yet",
            issuer.token(&head, &with(&staff, "nbf", now() + 120)),
        ),
        (
            "for another service",
            issuer.token(&head, &with(&staff, "aud", "shop")),
        ),
        (
            "of another issuer",
            issuer.token(&head, &with(&staff, "iss", "https://evil.example")),
        ),
        ("no signature", format!("{signed}.")),
    ] {
        let answer = purchase(&library, &forgery).await;
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{what}");
        let challenge = &answer.headers()["www-authenticate"];
        assert_eq!(challenge, "Bearer error=\"invalid_token\"", "{what}");
    }
    let stored = library.stored_lines().await;
    assert_eq!(stored.len(), 1, "one was let through");
    assert!(
        stored[0].to_string().contains("\"caller\":\"alice\""),
        "{stored:?}"
    );
    assert!(!library.process.log().contains(&token));
}

#[tokio::test]
async fn callers_are_told_to_wait_while_the_issuer_is_away() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let away = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let (mut issuer, folder) = (Issuer::start().await, tempfile::tempdir().unwrap());
    issuer.url = away;
    let library = issuer.library(&folder);
    let head = json!({ "alg": "ES256", "kid": "k1" });
    let token = issuer.token(&head, &issuer.claims(&["staff"]));
    let answer = purchase(&library, &token).await;
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.headers().contains_key("retry-after"));
    let problem = json_of(answer).await;
    assert_eq!(problem["type"], "tag:es-framework,2026:problem:issuer-away");
    eventually("the log says so", async || {
        library
            .process
            .log()
            .contains("could not be fetched")
            .then_some(())
    })
    .await;
}

#[tokio::test]
async fn keys_come_over_tls_from_an_issuer_that_the_machine_trusts_and_from_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = folder.path().join("issuer.pem");
    let issuer = Issuer::start_encrypted(&certificate).await;
    let head = json!({ "alg": "ES256", "kid": "k1" });
    let token = issuer.token(&head, &issuer.claims(&["staff"]));
    let trust = [("SSL_CERT_FILE", certificate.to_str().unwrap())];
    let trusting = issuer.library_with(&folder, &trust);
    let answer = purchase(&trusting, &token).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    drop(trusting);
    let careful = issuer.library(&folder);
    let answer = purchase(&careful, &token).await;
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn a_stream_ends_when_its_readers_token_expires() {
    let (issuer, folder) = (Issuer::start().await, tempfile::tempdir().unwrap());
    let library = issuer.library(&folder);
    let head = json!({ "alg": "ES256", "kid": "k1" });
    // The clocks may differ by one minute, so the token is valid for some more seconds.
    let last_moment = with(&issuer.claims(&[]), "exp", now() - 54);
    let request = client()
        .get(format!("{}/books", library.url))
        .bearer_auth(issuer.token(&head, &last_moment))
        .header("accept", "text/event-stream");
    let mut answers = request.send().await.unwrap();
    assert_eq!(answers.status(), StatusCode::OK);
    assert!(answers.chunk().await.unwrap().is_some());
    while answers.chunk().await.unwrap().is_some() {}
}
