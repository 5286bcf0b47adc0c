//! The settings of a sink, and those that are refused.

use std::{collections::BTreeSet, fs, path::Path};

use es_sink::{NatsSettings, NatsTransport, read_sinks};

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

/// Reads a file with one sink of these keys, and returns what the transport shows, or the sentence of the refusal.
fn read_table(keys: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sinks.toml");
    fs::write(&file, format!("[sinks.broker]\nstart = \"now\"\n{keys}")).unwrap();
    match read_sinks(&file, &BTreeSet::new()) {
        Ok(sinks) => format!("{:?}", sinks[0].sink.transport),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_file_of_sinks_names_servers_of_nats() {
    let keys = "nats = \"tls://a:4222,tls://b:4222\"\nsubject = \"library\"\ncredentials_file = \"broker.creds\"";
    assert_eq!(read_table(keys), "tls://a:4222,tls://b:4222");
}

#[test]
fn keys_of_another_kind_of_sink_are_refused() {
    const NATS: &str = "nats = \"nats://a\"\nsubject = \"library\"\n";
    for key in [
        "webhook = \"https://a\"",
        "secret_files = [\"a\"]",
        "secrets = [\"hunter2\"]",
        "batch = 2",
        "allow_private = true",
    ] {
        let sentence = read_table(&format!("{NATS}{key}"));
        assert!(sentence.contains("do not go with `nats`"), "{sentence}");
        assert!(!sentence.contains("hunter2"), "{sentence}");
    }
    for key in [
        "subject = \"a\"",
        "token_file = \"a\"",
        "credentials_file = \"a\"",
        "ca_file = \"a\"",
    ] {
        let sentence = read_table(&format!("webhook = \"https://a\"\n{key}"));
        assert!(sentence.contains("need `nats`"), "{sentence}");
    }
    let sentence = read_table("nats = \"nats://a\"");
    assert!(sentence.contains("subject = \"library\""), "{sentence}");
    let sentence = read_table("");
    assert!(sentence.contains("nats = \"tls://…\""), "{sentence}");
}
