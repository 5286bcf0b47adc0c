//! TLS of the application's listener: rustls with a certificate and a key from files, which are
//! reloaded when they change.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use es_event::{Error, Result, foreign_text::read_file};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{Accept, TlsAcceptor};

use crate::reloaded_value::ReloadedValue;

/// The paths of a certificate chain and of its private key.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// PEM file with the certificate chain.
    pub certificate: PathBuf,
    /// PEM file with the private key.
    pub key: PathBuf,
}

/// The TLS configuration of a listener. It follows the rotation of its files.
#[derive(Debug, Clone)]
pub struct ServerTls(ReloadedValue<TlsIdentity>);

/// A certificate chain and the configuration that presents it to clients.
#[derive(Debug)]
pub(crate) struct TlsIdentity {
    config: Arc<ServerConfig>,
    chain: Vec<CertificateDer<'static>>,
}

/// The reason why the files with the certificate and the key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsFilesError {
    /// A file cannot be read.
    #[error("{0} cannot be read: {1}")]
    File(PathBuf, io::Error),
    /// A file holds no certificate.
    #[error("{0} holds no certificate as PEM text")]
    NoCertificate(PathBuf),
    /// A file holds no private key.
    #[error("{0} holds no private key as PEM text")]
    NoKey(PathBuf),
    /// Other users can read the private key.
    #[error("everyone on this machine may read the key: run `chmod 600 {0}`")]
    WorldReadableKey(PathBuf),
    /// The private key does not belong to the certificate.
    #[error("the certificate in {0} and the key in {1} do not go together: {2}")]
    KeyMismatch(PathBuf, PathBuf, rustls::Error),
}

impl ServerTls {
    /// Loads the files and starts to watch them.
    pub fn load_and_watch(files: TlsFiles) -> Result<Self> {
        let both = vec![files.certificate.clone(), files.key.clone()];
        let load = move || {
            let identity = files.load_identity();
            identity.map_err(|error| Error::because("the certificate cannot be used", error))
        };
        ReloadedValue::load_and_watch("the certificate and its key", both, load).map(Self)
    }

    /// Accepts a connection with the current certificate. Open connections keep the certificate that they
    /// began with.
    pub(super) fn accept<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: S) -> Accept<S> {
        TlsAcceptor::from(Arc::clone(&self.0.current().config)).accept(stream)
    }

    /// Returns the current certificate and those between it and its root.
    pub fn current_certificates(&self) -> Vec<CertificateDer<'static>> {
        self.0.current().chain.clone()
    }
}

/// Installs the cryptography that TLS clients of this program use, unless the program has installed
/// another one.
pub fn install_cryptography() {
    let _ = ring::default_provider().install_default();
}

impl TlsFiles {
    /// Loads and checks the files.
    pub(crate) fn load_identity(&self) -> Result<TlsIdentity, TlsFilesError> {
        let Self { certificate, key } = self;
        let chain = load_certificates(certificate)?;
        let secret = load_private_key(key)?;
        let mismatch = |error| TlsFilesError::KeyMismatch(certificate.clone(), key.clone(), error);
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(mismatch)?
            .with_no_client_auth()
            .with_single_cert(chain.clone(), secret)
            .map_err(mismatch)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsIdentity {
            config: Arc::new(config),
            chain,
        })
    }
}

/// Reads the bytes of a file.
fn read_bytes(file: &Path) -> Result<Vec<u8>, TlsFilesError> {
    read_file(file).map_err(|error| TlsFilesError::File(file.to_owned(), error))
}

/// Loads the certificates of a PEM file.
pub fn load_certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsFilesError> {
    let text = read_bytes(file)?;
    let parsed: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let chain = parsed.ok().filter(|chain| !chain.is_empty());
    chain.ok_or_else(|| TlsFilesError::NoCertificate(file.to_owned()))
}

/// Loads a private key. A group may read the file, because services that share a certificate often
/// use a group.
fn load_private_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsFilesError> {
    let text = read_bytes(file)?;
    let state = fs::metadata(file).map_err(|error| TlsFilesError::File(file.to_owned(), error))?;
    if state.mode() & 0o007 != 0 {
        return Err(TlsFilesError::WorldReadableKey(file.to_owned()));
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| TlsFilesError::NoKey(file.to_owned()))
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
    use crate::{ConnectionLimits, HttpListener, serve};

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
        files.load_identity().unwrap_err().to_string()
    }

    #[test]
    fn a_certificate_goes_with_its_own_key_only() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (mine, theirs) = (files(folder.path()), files(other.path()));
        assert!(mine.load_identity().is_ok());
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
        assert!(good.load_identity().is_ok());
        fs::write(&key, "no key").unwrap();
        assert!(refusal(&good).contains("holds no private key"));
        fs::remove_file(&certificate).unwrap();
        assert!(refusal(&good).contains("certificate.pem cannot be read"));
    }

    #[tokio::test]
    async fn a_client_that_never_agrees_on_a_cipher_loses_its_connection() {
        let folder = tempfile::tempdir().unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap();
        let tls = Some(ServerTls::load_and_watch(files(folder.path())).unwrap());
        let limits = ConnectionLimits {
            handshake_time: Duration::from_millis(50),
            ..ConnectionLimits::default()
        };
        let listener = HttpListener::new(tcp, tls);
        let shutdown = Box::pin(std::future::pending());
        tokio::spawn(serve(listener, Router::new(), limits, shutdown));
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
