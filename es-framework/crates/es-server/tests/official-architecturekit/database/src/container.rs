//! A process of the program `event-store`, behind the interface of the official client's container.

use std::{
    convert::Infallible,
    io::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

use ed25519_dalek::{
    SigningKey, VerifyingKey,
    pkcs8::{EncodePrivateKey as _, spki::der::pem::LineEnding},
};
use official::Client;
use tempfile::NamedTempFile;

use crate::server_process::{ServerProcess, TOKEN};

/// Builds a process, like the official client's builder of containers.
#[derive(Default)]
pub struct ContainerBuilder {
    signing_key: Option<SigningKey>,
}

impl ContainerBuilder {
    /// Does nothing: there is one program.
    #[must_use]
    pub fn with_image_tag(self, _: &str) -> Self {
        self
    }

    /// Lets the program sign its events. Each process has a key of its own.
    #[must_use]
    pub fn with_signing_key(self) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut secret = [0; 32];
        let number = NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        secret[..number.len()].copy_from_slice(&number);
        Self {
            signing_key: Some(SigningKey::from_bytes(&secret)),
        }
    }

    /// Starts the program, with events of the form that current versions of the event store have.
    ///
    /// # Errors
    /// Never: a program that does not start fails the test.
    pub async fn start(self) -> Result<Container, Infallible> {
        let key_file = self.signing_key.as_ref().map(key_file);
        let mut arguments = vec!["--dialect=event"];
        if let Some(file) = &key_file {
            arguments.extend(["--signing-key-file", file.path().to_str().unwrap()]);
        }
        Ok(Container {
            verification_key: self.signing_key.as_ref().map(SigningKey::verifying_key),
            server: ServerProcess::temporary(&arguments),
        })
    }
}

/// Writes the key where the program reads it.
fn key_file(key: &SigningKey) -> NamedTempFile {
    let pem = key.to_pkcs8_pem(LineEnding::LF).unwrap();
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(pem.as_bytes()).unwrap();
    file
}

/// A process of the program `event-store` that ends when this is dropped.
pub struct Container {
    server: ServerProcess,
    verification_key: Option<VerifyingKey>,
}

impl Container {
    /// Returns a builder without a signing key.
    #[must_use]
    pub fn builder() -> ContainerBuilder {
        ContainerBuilder::default()
    }

    /// Returns a client of the process.
    ///
    /// # Errors
    /// Never.
    pub async fn get_client(&self) -> Result<Client, Infallible> {
        Ok(Client::new(self.server.url.parse().unwrap(), TOKEN))
    }

    /// Returns the key that verifies the signatures of events.
    #[must_use]
    pub fn get_verification_key(&self) -> Option<&VerifyingKey> {
        self.verification_key.as_ref()
    }
}

impl std::fmt::Debug for Container {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Container").finish_non_exhaustive()
    }
}
