//! Tokens, credentials of users, and TLS.

use std::{fs, os::unix::fs::PermissionsExt as _};

use async_nats::ConnectOptions;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use es_sink::{NatsSettings, NatsTransport, Transport as _};
use nkeys::KeyPair as NatsKey;
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};

use crate::{event, failure, nats_server::NatsServer};

#[tokio::test]
async fn a_token_is_read_at_each_connection_and_never_shown() {
    let Some(server) = NatsServer::start(&["--auth", "hunter2"]) else {
        return;
    };
    let token = ConnectOptions::with_token("hunter2".to_owned());
    let stream = server.add_stream(token).await;
    let settings = NatsSettings {
        token_file: Some(server.write_secret("token", "old-secret\n")),
        ..server.settings()
    };
    let transport = NatsTransport::new(settings).unwrap();
    let sentence = failure(transport.deliver(&[event("1")]).await);
    assert!(sentence.contains("authorization violation"), "{sentence}");
    assert!(!sentence.contains("old-secret"), "{sentence}");
    server.write_secret("token", "hunter2\n");
    transport.deliver(&[event("1")]).await.unwrap();
    assert_eq!(stream.ids().await, ["1"]);
    assert_eq!(format!("{transport:?}"), server.url());
}

#[tokio::test]
async fn a_user_with_a_credentials_file_is_let_in_and_others_are_not() {
    let Some(mut server) = NatsServer::stopped(&[]) else {
        return;
    };
    let operator = NatsKey::new_operator();
    let (account, system) = (NatsKey::new_account(), NatsKey::new_account());
    let of_operator =
        json!({ "type": "operator", "version": 2, "system_account": system.public_key() });
    let of_account = json!({
        "type": "account", "version": 2,
        "limits": {
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1,
            "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1,
        },
    });
    let configuration = format!(
        "operator: {}\nresolver: MEMORY\nresolver_preload: {{ {}: {}, {}: {} }}",
        token(&operator, &operator, &of_operator),
        account.public_key(),
        token(&operator, &account, &of_account),
        system.public_key(),
        token(
            &operator,
            &system,
            &json!({ "type": "account", "version": 2 })
        ),
    );
    fs::write(server.file("configuration"), configuration).unwrap();
    let configuration = server.file("configuration").display().to_string();
    server.add_options(&["-c", &configuration]);
    server.restart();
    let credentials = |account: &NatsKey| {
        let user = NatsKey::new_user();
        let claims = json!({ "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1 });
        let (token, seed) = (token(account, &user, &claims), user.seed().unwrap());
        format!(
            "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
    };
    let operators = ConnectOptions::with_credentials(&credentials(&account)).unwrap();
    let stream = server.add_stream(operators).await;
    let transport = |file: Option<&str>| {
        let credentials_file = file.map(|text| server.write_secret("user.creds", text));
        let settings = NatsSettings {
            credentials_file,
            ..server.settings()
        };
        NatsTransport::new(settings).unwrap()
    };
    let strangers = credentials(&NatsKey::new_account());
    for file in [None, Some(&*strangers)] {
        let sentence = failure(transport(file).deliver(&[event("1")]).await);
        assert!(sentence.contains("authorization violation"), "{sentence}");
    }
    let sentence = failure(transport(Some("SUSECRET")).deliver(&[event("1")]).await);
    assert!(sentence.contains("credentials file"), "{sentence}");
    assert!(!sentence.contains("SUSECRET"), "{sentence}");
    let known = transport(Some(&credentials(&account)));
    known.deliver(&[event("1")]).await.unwrap();
    assert_eq!(stream.ids().await, ["1"]);
}

/// A token of NATS, as `nsc` writes it: `issuer` signs the claims about `subject`.
fn token(issuer: &NatsKey, subject: &NatsKey, nats: &Value) -> String {
    let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let header = encode(&json!({ "typ": "JWT", "alg": "ed25519-nkey" }));
    let claims = encode(&json!({
        "jti": "1", "iat": 1_700_000_000, "iss": issuer.public_key(), "sub": subject.public_key(), "name": "test",
        "nats": nats,
    }));
    let signed = format!("{header}.{claims}");
    let signature = issuer.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}

#[tokio::test]
async fn a_file_of_secrets_that_others_can_read_is_refused() {
    let Some(server) = NatsServer::start(&[]) else {
        return;
    };
    let file = server.write_secret("token", "hunter2");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    for (credentials_file, token_file) in [(Some(file.clone()), None), (None, Some(file.clone()))] {
        let settings = NatsSettings {
            credentials_file,
            token_file,
            ..server.settings()
        };
        let transport = NatsTransport::new(settings).unwrap();
        let sentence = failure(transport.deliver(&[event("1")]).await);
        assert!(sentence.contains("chmod 600"), "{sentence}");
    }
}

#[tokio::test]
async fn tls_trusts_the_certificates_of_the_settings_and_no_others() {
    let Some(mut server) = NatsServer::stopped(&[]) else {
        return;
    };
    let [trusted, other] = ["trusted", "other"].map(|name| {
        let parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        fs::write(server.file(name), certificate.pem()).unwrap();
        (server.file(name), key)
    });
    let key = server.write_secret("key", &trusted.1.serialize_pem());
    let files = [trusted.0.clone(), key].map(|file| file.display().to_string());
    server.add_options(&["--tls", "--tlscert", &files[0], "--tlskey", &files[1]]);
    server.restart();
    let options = ConnectOptions::new().add_root_certificates(trusted.0.clone());
    let stream = server.add_stream(options).await;
    let transport = |ca_file| {
        let servers = server.url().replace("nats:", "tls:");
        let settings = NatsSettings {
            servers,
            ca_file,
            ..server.settings()
        };
        NatsTransport::new(settings).unwrap()
    };
    for ca_file in [None, Some(other.0)] {
        let sentence = failure(transport(ca_file).deliver(&[event("1")]).await);
        assert!(sentence.contains("certificate"), "{sentence}");
    }
    let delivered = transport(Some(trusted.0)).deliver(&[event("1")]).await;
    delivered.unwrap();
    assert_eq!(stream.ids().await, ["1"]);
}

#[tokio::test]
async fn a_server_without_tls_gets_nothing_from_a_sink_with_tls() {
    let Some(server) = NatsServer::start(&[]) else {
        return;
    };
    let stream = server.add_stream(ConnectOptions::new()).await;
    let servers = server.url().replace("nats:", "tls:");
    let transport = NatsTransport::new(NatsSettings {
        servers,
        ..server.settings()
    })
    .unwrap();
    let sentence = failure(transport.deliver(&[event("1")]).await);
    assert!(sentence.contains("connection"), "{sentence}");
    assert!(stream.ids().await.is_empty());
}
