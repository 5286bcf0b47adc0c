//! TLS between the command line and a running application.

use std::{error::Error as StdError, io, path::Path};

use es_event::{Error, Result};
use es_net::tls;
use reqwest::{Certificate, ClientBuilder};
use rustls::CertificateError;

/// Makes a client trust the certificates of a file, and no others.
pub(super) fn trust_only(client: ClientBuilder, file: &Path) -> Result<ClientBuilder> {
    let failed =
        |error: &dyn StdError| Error::new(format!("HTTP_TLS_CERTIFICATE cannot be used: {error}"));
    let chain = tls::load_certificates(file).map_err(|error| failed(&error))?;
    let certificates = chain
        .iter()
        .map(|certificate| Certificate::from_der(certificate))
        .collect::<reqwest::Result<Vec<_>>>()
        .map_err(|error| failed(&error))?;
    Ok(client.tls_certs_only(certificates).https_only(true))
}

/// Returns a sentence about a failed TLS handshake, or `None` for another error.
pub(super) fn handshake_error(error: &reqwest::Error, address: &str) -> Option<Error> {
    let reason = match cause(error)? {
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => format!(
            "the certificate of the application is not for {address}: give --http-host a name or an address that it is for"
        ),
        rustls::Error::InvalidCertificate(reason) => format!(
            "the application at {address} shows a certificate that does not follow from those in HTTP_TLS_CERTIFICATE: {reason}"
        ),
        rustls::Error::InvalidMessage(_) => {
            format!("the application at {address} does not speak TLS: unset HTTP_TLS_CERTIFICATE")
        }
        other => format!("no TLS with the application at {address}: {other}"),
    };
    Some(Error::new(reason))
}

/// Finds the TLS error among the causes of an error. I/O errors hide it from `source`.
fn cause<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}
