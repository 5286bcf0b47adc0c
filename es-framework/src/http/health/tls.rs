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
