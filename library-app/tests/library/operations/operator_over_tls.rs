//! An operator commands an application that speaks TLS.

use crate::support::{Library, tls_identity::TlsIdentity};

fn start(identity: &TlsIdentity) -> Library {
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| identity.file(name));
    let settings = [
        ("HTTP_TLS_CERTIFICATE", certificate.to_str().unwrap()),
        ("HTTP_TLS_KEY", key.to_str().unwrap()),
    ];
    Library::embedded_with(&identity.file("data"), &settings)
}

#[tokio::test]
async fn an_operator_asks_an_application_that_speaks_tls() {
    let identity = TlsIdentity::new();
    let library = start(&identity);
    let certificate = identity.file("certificate.pem");
    let trusted = ["--http-tls-certificate", certificate.to_str().unwrap()];
    let by_name = [&trusted[..], &["--http-host", "localhost"]].concat();
    for (asked, known) in [
        ("projection", "\"book_copies\": {"),
        ("reaction", "\"LoanReminder\": {"),
    ] {
        let status = library.said(&[&[asked, "status"], &by_name[..]].concat(), true);
        assert!(status.contains(known), "{status}");
    }
    let nothing = [&["reaction", "retry", "LoanReminder"], &by_name[..]].concat();
    assert!(library.said(&nothing, false).contains("has not stopped"));

    let status = |rest: &[&str]| library.said(&[&["projection", "status"], rest].concat(), false);
    let elsewhere = status(&trusted);
    assert!(
        elsewhere.contains("certificate of the application is not for 127.0.0.1"),
        "{elsewhere}"
    );
    assert!(status(&["--http-host", "localhost"]).contains("HTTP_TLS_CERTIFICATE"));
    assert!(status(&["--http-host", "local host"]).contains("no address and no host name"));
    let missing = status(&["--http-tls-certificate", "missing.pem"]);
    assert!(missing.contains("missing.pem cannot be read"), "{missing}");
    let other = TlsIdentity::new();
    let other = other.file("certificate.pem");
    let other = [
        "--http-tls-certificate",
        other.to_str().unwrap(),
        "--http-host",
        "localhost",
    ];
    let stranger = status(&other);
    assert!(
        stranger.contains("does not follow from those"),
        "{stranger}"
    );

    let folder = tempfile::tempdir().unwrap();
    let plain = Library::embedded(folder.path());
    let unencrypted = [&["projection", "status"], &trusted[..]].concat();
    let unencrypted = plain.said(&unencrypted, false);
    assert!(unencrypted.contains("does not speak TLS"), "{unencrypted}");
}
