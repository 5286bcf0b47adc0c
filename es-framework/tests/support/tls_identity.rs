//! A certificate in files, as a service reads it.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use rcgen::{CertificateParams, KeyPair};
use reqwest::{Certificate, Client};

use super::http_client::new_client;

/// A certificate for this machine, and the files that hold it.
pub(crate) struct TlsIdentity {
    folder: tempfile::TempDir,
}

impl TlsIdentity {
    pub(crate) fn new() -> Self {
        let identity = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        identity.renew(2090);
        identity
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Another certificate, valid until the given year, in the same files.
    pub(crate) fn renew(&self, year: i32) -> Client {
        let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap().pem();
        // The certificate and the key do not match for a moment, as in a renewal by another program.
        fs::write(self.file("key.pem"), key.serialize_pem()).unwrap();
        let owner_only = fs::Permissions::from_mode(0o600);
        fs::set_permissions(self.file("key.pem"), owner_only).unwrap();
        fs::write(self.file("certificate.pem"), &certificate).unwrap();
        let trusted = Certificate::from_pem(certificate.as_bytes()).unwrap();
        let client = new_client().pool_max_idle_per_host(0);
        client.tls_certs_only([trusted]).build().unwrap()
    }
}
