//! Signatures of events. The server signs an event when it sends it, and stores no signature.

use std::{fmt, path::Path, sync::Arc};

use rustls::{
    SignatureScheme,
    crypto::ring::sign::any_eddsa_type,
    pki_types::{PrivatePkcs8KeyDer, pem::PemObject as _},
    sign::Signer,
};

use es_event::{Hash, foreign_text};

/// An Ed25519 key that signs the events of responses.
///
/// ```
/// use std::path::Path;
///
/// use es_server::{InvalidSigningKey, ServerSettings, SigningKey};
///
/// fn signing(settings: &mut ServerSettings, key: &Path) -> Result<(), InvalidSigningKey> {
///     settings.signing_key = Some(SigningKey::load(key)?);
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct SigningKey(Arc<dyn Signer>);

/// The error for a file without a usable signing key.
///
/// ```
/// use std::path::Path;
///
/// use es_server::SigningKey;
///
/// let error = SigningKey::load(Path::new("nowhere/key.pem")).unwrap_err();
/// assert!(error.to_string().contains("must hold an Ed25519 private key as PKCS#8 PEM"));
/// ```
#[derive(Debug, thiserror::Error)]
#[error("the signing key file {path} must hold an Ed25519 private key as PKCS#8 PEM: {reason}")]
pub struct InvalidSigningKey {
    path: Box<str>,
    reason: String,
}

impl SigningKey {
    /// Loads the key from a PKCS#8 PEM file.
    ///
    /// # Errors
    /// The file cannot be read or contains something else.
    pub fn load(path: &Path) -> Result<Self, InvalidSigningKey> {
        let pem = foreign_text::read_file(path).map_err(|error| error.to_string());
        pem.and_then(|pem| Self::parse(&pem))
            .map_err(|reason| InvalidSigningKey {
                path: path.display().to_string().into(),
                reason,
            })
    }

    /// Parses an Ed25519 key from PEM text.
    fn parse(pem: &[u8]) -> Result<Self, String> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem).map_err(|error| error.to_string())?;
        let key = any_eddsa_type(&der).map_err(|error| error.to_string())?;
        let signer = key.choose_scheme(&[SignatureScheme::ED25519]);
        signer
            .map(|signer| Self(signer.into()))
            .ok_or_else(|| "the key has another type".to_owned())
    }

    /// Signs the hash of an event. Returns `None` if the key cannot sign.
    pub(super) fn sign(&self, hash: &Hash) -> Option<String> {
        let signature = self.0.sign(hash.to_string().as_bytes()).ok()?;
        Some(format!("esdb:signature:v1:{}", es_event::hex(&signature)))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first test key of RFC 8032, section 7.1, as PKCS#8.
    const PEM: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
        -----END PRIVATE KEY-----\n";

    #[test]
    fn a_signature_is_sixty_four_bytes_in_hexadecimal() {
        let key = SigningKey::parse(PEM.as_bytes()).unwrap();
        let signature = key.sign(&Hash::ZERO).unwrap();
        let digits = signature.strip_prefix("esdb:signature:v1:").unwrap();
        assert_eq!(digits.len(), 128);
        assert_eq!(key.sign(&Hash::ZERO).unwrap(), signature);
        assert_eq!(format!("{key:?}"), "SigningKey");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let cut = &PEM.as_bytes()[..60];
        for broken in [&b""[..], b"not a key", cut] {
            assert!(SigningKey::parse(broken).is_err());
        }
        let error = SigningKey::load(Path::new("/no/such/file")).unwrap_err();
        assert!(error.to_string().contains("/no/such/file"), "{error}");
    }
}
