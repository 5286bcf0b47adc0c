//! Replaces TLS in a program without the feature `tls`.

use std::{io, path::PathBuf};

use es_event::{Error, Result};

/// The paths of a certificate chain and of its private key.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// PEM file with the certificate chain.
    pub certificate: PathBuf,
    /// PEM file with the private key.
    pub key: PathBuf,
}

/// The TLS configuration of a listener. A program without the feature never has one.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub enum ServerTls {}

impl ServerTls {
    /// Refuses the files.
    ///
    /// # Errors
    /// Always.
    pub fn load_and_watch(_: TlsFiles) -> Result<Self> {
        Err(Error::missing_feature("HTTP_TLS_CERTIFICATE", "tls"))
    }

    /// Cannot be called, because no listener has TLS.
    pub(super) async fn accept<S>(&self, _: S) -> io::Result<S> {
        match *self {}
    }
}
