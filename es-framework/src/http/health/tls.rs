//! Whether the certificates that the service relies on are valid today.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use x509_parser::{certificate::X509Certificate, pem::Pem};

use super::Component;

pub(super) async fn check(certificates: Option<PathBuf>) -> Component {
    let Some(file) = certificates else {
        return Component::up(json!({ "validChains": [], "invalidChains": [] }));
    };
    let checked = tokio::task::spawn_blocking(move || check_file(&file)).await;
    checked.unwrap_or_else(|error| Component::down(json!({ "error": error.to_string() })))
}

fn check_file(file: &Path) -> Component {
    let down = |reason: String| {
        let file = file.display().to_string();
        Component::down(json!({ "file": file, "error": reason }))
    };
    let text = match std::fs::read(file) {
        Ok(text) => text,
        Err(error) => return down(error.to_string()),
    };
    let (mut valid, mut invalid) = (Vec::new(), Vec::new());
    for block in Pem::iter_from_buffer(&text) {
        let described = block
            .map_err(|error| error.to_string())
            .and_then(|pem| describe(&pem));
        match described {
            Ok((chain, true)) => valid.push(chain),
            Ok((chain, false)) => invalid.push(chain),
            Err(reason) => return down(reason),
        }
    }
    if valid.is_empty() && invalid.is_empty() {
        return down("the file holds no certificate".into());
    }
    let all_valid = invalid.is_empty();
    let details = json!({
        "file": file.display().to_string(),
        "validChains": valid,
        "invalidChains": invalid,
    });
    if all_valid {
        Component::up(details)
    } else {
        Component::down(details)
    }
}

/// What a certificate says of itself, and whether it is valid now.
fn describe(pem: &Pem) -> Result<(Value, bool), String> {
    let certificate: X509Certificate<'_> = pem.parse_x509().map_err(|error| error.to_string())?;
    let validity = certificate.validity();
    let chain = json!({
        "subject": certificate.subject().to_string(),
        "notBefore": validity.not_before.to_string(),
        "notAfter": validity.not_after.to_string(),
    });
    Ok((chain, validity.is_valid()))
}

#[cfg(test)]
mod tests {
    use super::{super::Status, *};

    /// The check of a file that holds these texts.
    async fn checked(texts: &[&str]) -> Component {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("certificates.pem");
        std::fs::write(&file, texts.concat()).unwrap();
        check(Some(file)).await
    }

    const VALID: &str = include_str!("fixtures/valid.pem");
    const EXPIRED: &str = include_str!("fixtures/expired.pem");

    #[tokio::test]
    async fn without_certificates_there_is_nothing_wrong() {
        assert_eq!(check(None).await.status, Status::Up);
    }

    #[tokio::test]
    async fn a_certificate_that_is_valid_today_is_shown_with_its_end() {
        let component = checked(&[VALID]).await;
        assert_eq!(component.status, Status::Up);
        let shown = component.details["validChains"][0].to_string();
        assert!(
            shown.contains("event-store.test") && shown.contains("notAfter"),
            "{shown}"
        );
    }

    #[tokio::test]
    async fn one_certificate_that_has_expired_is_named_beside_the_valid_ones() {
        let component = checked(&[VALID, EXPIRED]).await;
        assert_eq!(component.status, Status::Down);
        let invalid = component.details["invalidChains"].to_string();
        assert!(invalid.contains("expired.test") && !invalid.contains("event-store.test"));
    }

    #[tokio::test]
    async fn a_file_that_cannot_be_read_or_holds_none_is_down_and_says_so() {
        for text in [
            "",
            "no certificate",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            let component = checked(&[text]).await;
            assert_eq!(component.status, Status::Down, "{text}");
            assert!(component.details["error"].is_string(), "{text}");
        }
        let missing = check(Some("/nowhere/at-all.pem".into())).await;
        assert_eq!(missing.status, Status::Down);
    }
}
