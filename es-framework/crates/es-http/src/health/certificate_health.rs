//! The health check of certificates: the service's own and those that it trusts.

use std::path::{Path, PathBuf};

use es_net::tls::ServerTls;
use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};
use x509_parser::{certificate::X509Certificate, parse_x509_certificate, pem::Pem};

use super::HealthComponent;

/// Checks the service's own certificate chain, and a file with certificates that it trusts.
pub(super) async fn check_certificates(
    own: Option<&ServerTls>,
    trusted: Option<PathBuf>,
) -> HealthComponent {
    let own = own.map(ServerTls::current_certificates).unwrap_or_default();
    let checked = tokio::task::spawn_blocking(move || check_all(&own, trusted.as_deref())).await;
    checked.unwrap_or_else(|error| HealthComponent::down(json!({ "error": error.to_string() })))
}

fn check_all(own: &[CertificateDer<'_>], trusted: Option<&Path>) -> HealthComponent {
    let mut certificates = CheckedCertificates::default();
    for certificate in own {
        match parse_x509_certificate(certificate) {
            Ok((_, certificate)) => certificates.add(&certificate),
            Err(error) => return HealthComponent::down(json!({ "error": error.to_string() })),
        }
    }
    let Some(file) = trusted else {
        return certificates.report(None);
    };
    if let Err(reason) = certificates.add_file(file) {
        let file = file.display().to_string();
        return HealthComponent::down(json!({ "file": file, "error": reason }));
    }
    certificates.report(Some(file))
}

/// The valid and the invalid certificates, as the health report shows them.
#[derive(Default)]
struct CheckedCertificates {
    valid: Vec<Value>,
    invalid: Vec<Value>,
}

impl CheckedCertificates {
    fn add_file(&mut self, file: &Path) -> Result<(), String> {
        let text = es_event::foreign_text::read_file(file).map_err(|error| error.to_string())?;
        let mut blocks = Pem::iter_from_buffer(&text).peekable();
        if blocks.peek().is_none() {
            return Err("the file holds no certificate".into());
        }
        for block in blocks {
            let block = block.map_err(|error| error.to_string())?;
            let certificate = block.parse_x509().map_err(|error| error.to_string())?;
            self.add(&certificate);
        }
        Ok(())
    }

    /// Adds the details of a certificate, and its validity at this time.
    fn add(&mut self, certificate: &X509Certificate<'_>) {
        let validity = certificate.validity();
        let details = json!({
            "subject": certificate.subject().to_string(),
            "notBefore": validity.not_before.to_string(),
            "notAfter": validity.not_after.to_string(),
        });
        if validity.is_valid() {
            self.valid.push(details)
        } else {
            self.invalid.push(details)
        }
    }

    fn report(self, file: Option<&Path>) -> HealthComponent {
        let Self { valid, invalid } = self;
        let all_valid = invalid.is_empty();
        let mut details = json!({ "validChains": valid, "invalidChains": invalid });
        if let (Some(file), Some(details)) = (file, details.as_object_mut()) {
            details.insert("file".into(), file.display().to_string().into());
        }
        if all_valid {
            HealthComponent::up(details)
        } else {
            HealthComponent::down(details)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::HealthStatus, *};

    /// Checks a file with these texts.
    async fn checked(texts: &[&str]) -> HealthComponent {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("certificates.pem");
        std::fs::write(&file, texts.concat()).unwrap();
        check_certificates(None, Some(file)).await
    }

    const VALID: &str = include_str!("fixtures/valid.pem");
    const EXPIRED: &str = include_str!("fixtures/expired.pem");

    #[tokio::test]
    async fn without_certificates_there_is_nothing_wrong() {
        assert_eq!(
            check_certificates(None, None).await.status,
            HealthStatus::Up
        );
    }

    #[tokio::test]
    async fn a_certificate_that_is_valid_today_is_shown_with_its_end() {
        let component = checked(&[VALID]).await;
        assert_eq!(component.status, HealthStatus::Up);
        let shown = component.details["validChains"][0].to_string();
        assert!(
            shown.contains("event-store.test") && shown.contains("notAfter"),
            "{shown}"
        );
    }

    #[tokio::test]
    async fn one_certificate_that_has_expired_is_named_beside_the_valid_ones() {
        let component = checked(&[VALID, EXPIRED]).await;
        assert_eq!(component.status, HealthStatus::Down);
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
            assert_eq!(component.status, HealthStatus::Down, "{text}");
            assert!(component.details["error"].is_string(), "{text}");
        }
        let missing = check_certificates(None, Some("/nowhere/at-all.pem".into())).await;
        assert_eq!(missing.status, HealthStatus::Down);
    }
}
