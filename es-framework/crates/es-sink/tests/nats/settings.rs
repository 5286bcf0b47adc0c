//! Settings that are refused.

use std::path::Path;

use es_sink::{NatsSettings, NatsTransport};

fn refusal(servers: &str, subject: &str) -> String {
    let settings = NatsSettings {
        servers: servers.to_owned(),
        subject: subject.to_owned(),
        ..NatsSettings::default()
    };
    NatsTransport::new(settings).map(drop).unwrap_err()
}

#[test]
fn a_url_with_a_password_is_refused_and_not_repeated() {
    for url in [
        "nats://ada:hunter2@localhost",
        "nats://hunter2@localhost",
        "nats://:hunter2@localhost",
        "ada:hunter2@localhost",
        "nats://localhost,nats://ada:hunter2@localhost",
        "http://ada:hunter2@localhost",
        "nats://ada:hunter2@localhost:many",
    ] {
        let sentence = refusal(url, "library");
        assert!(!sentence.contains("hunter2"), "{sentence}");
    }
    let sentence = refusal("nats://ada:hunter2@localhost", "library");
    assert!(sentence.contains("`credentials_file`"), "{sentence}");
}

#[test]
fn a_url_that_is_no_nats_server_is_refused() {
    for url in [
        "",
        "localhost",
        "http://localhost",
        "wss://localhost",
        "nats://",
    ] {
        let sentence = refusal(url, "library");
        assert!(sentence.contains("NATS server"), "{url}: {sentence}");
    }
}

#[test]
fn a_nats_subject_with_wildcards_or_empty_words_is_refused() {
    for subject in [
        "",
        "library.",
        ".library",
        "library.*",
        ">",
        "a b",
        "büch",
        "$JS.API",
    ] {
        let sentence = refusal("nats://localhost", subject);
        assert!(sentence.contains("is no NATS subject"), "{sentence}");
    }
}

#[test]
fn two_kinds_of_credentials_are_refused() {
    let file = Some(Path::new("secret").to_owned());
    let settings = NatsSettings {
        servers: "nats://localhost".to_owned(),
        subject: "library".to_owned(),
        credentials_file: file.clone(),
        token_file: file,
        ..NatsSettings::default()
    };
    let error = NatsTransport::new(settings).map(drop).unwrap_err();
    assert!(error.contains("not both"), "{error}");
}
