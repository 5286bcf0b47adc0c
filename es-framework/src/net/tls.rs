//! TLS of the application's own surface: rustls with a certificate and a key from files, read again
//! when they change.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio_rustls::TlsAcceptor;

use crate::{Error, Result, watched::Watched};

/// The files of a certificate, with all that leads to its root, and of its key.
#[derive(Debug, Clone)]
pub(crate) struct TlsFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// Makes encrypted connections of plain ones.
#[derive(Debug, Clone)]
pub(crate) struct Tls(Watched<Identity>);

/// What the files hold.
#[derive(Debug)]
pub(crate) struct Identity {
    config: Arc<ServerConfig>,
    chain: Vec<CertificateDer<'static>>,
}

/// Why a certificate and a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("{0} cannot be read: {1}")]
    File(PathBuf, io::Error),
    #[error("{0} holds no certificate as PEM text")]
    NoCertificate(PathBuf),
    #[error("{0} holds no private key as PEM text")]
    NoKey(PathBuf),
    #[error("everyone on this machine may read the key: run `chmod 600 {0}`")]
    PublicKey(PathBuf),
    #[error("the certificate in {0} and the key in {1} do not go together: {2}")]
    Pair(PathBuf, PathBuf, rustls::Error),
}

impl Tls {
    pub(crate) fn start(files: TlsFiles) -> Result<Self> {
        let both = vec![files.certificate.clone(), files.key.clone()];
        let read = move || {
            let identity = files.read();
            identity.map_err(|error| Error::because("the certificate cannot be used", error))
        };
        Watched::start("the certificate and its key", both, read).map(Self)
    }

    /// With the certificate of this moment: connections that are open keep theirs.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0.get().config))
    }

    /// The certificate of this moment, and those that lead to its root.
    pub(crate) fn chain(&self) -> Vec<CertificateDer<'static>> {
        self.0.get().chain.clone()
    }
}

/// What clients encrypt with, for the whole program. A program that has chosen already keeps that.
pub(crate) fn install_cryptography() {
    let _ = ring::default_provider().install_default();
}

impl TlsFiles {
    /// What they hold at the moment.
    pub(crate) fn read(&self) -> Result<Identity, TlsError> {
        let Self { certificate, key } = self;
        let chain = certificates(certificate)?;
        let secret = private_key(key)?;
        let pair = |error| TlsError::Pair(certificate.clone(), key.clone(), error);
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(pair)?
            .with_no_client_auth()
            .with_single_cert(chain.clone(), secret)
            .map_err(pair)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let config = Arc::new(config);
        Ok(Identity { config, chain })
    }
}

fn text(file: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(file).map_err(|error| TlsError::File(file.to_owned(), error))
}

/// The certificates that a file holds.
pub(crate) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = text(file)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let chain = chain.ok().filter(|chain| !chain.is_empty());
    chain.ok_or_else(|| TlsError::NoCertificate(file.to_owned()))
}

/// A group may read it, as is the custom where several services share a certificate.
fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = text(file)?;
    let state = fs::metadata(file).map_err(|error| TlsError::File(file.to_owned(), error))?;
    if state.mode() & 0o007 != 0 {
        return Err(TlsError::PublicKey(file.to_owned()));
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| TlsError::NoKey(file.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::PermissionsExt as _, time::Duration};

    use axum::Router;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
        time::timeout,
    };

    use super::*;
    use crate::net::{Door, Limits, serve};

    fn files(folder: &Path) -> TlsFiles {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        let files = TlsFiles {
            certificate: folder.join("certificate.pem"),
            key: folder.join("key.pem"),
        };
        fs::write(&files.certificate, made.cert.pem()).unwrap();
        fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
        fs::set_permissions(&files.key, fs::Permissions::from_mode(0o600)).unwrap();
        files
    }

    fn refusal(files: &TlsFiles) -> String {
        files.read().unwrap_err().to_string()
    }

    #[test]
    fn a_certificate_goes_with_its_own_key_only() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (mine, theirs) = (files(folder.path()), files(other.path()));
        assert!(mine.read().is_ok());
        let mixed = TlsFiles {
            key: theirs.key,
            ..mine
        };
        let text = refusal(&mixed);
        assert!(text.contains("do not go together"), "{text}");
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let good = files(folder.path());
        let (certificate, key) = (good.certificate.clone(), good.key.clone());
        let swapped = TlsFiles {
            certificate: key.clone(),
            key: certificate.clone(),
        };
        assert!(refusal(&swapped).contains("key.pem holds no certificate"));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(refusal(&good).contains("chmod 600"));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(good.read().is_ok());
        fs::write(&key, "no key").unwrap();
        assert!(refusal(&good).contains("holds no private key"));
        fs::remove_file(&certificate).unwrap();
        assert!(refusal(&good).contains("certificate.pem cannot be read"));
    }

    #[tokio::test]
    async fn a_client_that_never_agrees_on_a_cipher_loses_its_connection() {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let tls = Some(Tls::start(files(folder.path())).unwrap());
        let limits = Limits {
            handshake: Duration::from_millis(50),
            ..Limits::default()
        };
        let door = Door { listener, tls };
        tokio::spawn(serve(door, Router::new(), limits, std::future::pending()));
        // Silent, half a greeting, and no greeting of TLS at all.
        for greeting in [&b""[..], b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\n\r\n"] {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(greeting).await.unwrap();
            let mut rest = Vec::new();
            let ended = timeout(Duration::from_secs(10), client.read_to_end(&mut rest));
            let _ = ended.await.expect("the connection ends");
            assert!(!rest.starts_with(b"HTTP"), "{rest:?}");
        }
    }
}
