//! Replaces the verification of JWTs in a program without the feature `oidc`.

use std::sync::Arc;

use es_event::{Error, Result};

use super::{IssuerSettings, VerifiedCaller, denied::AccessDenied};

/// An issuer. A program without the feature never has one.
#[derive(Debug)]
pub(super) enum Issuer {}

impl Issuer {
    /// Refuses the settings, because they name an issuer.
    pub(super) fn connect(_: IssuerSettings) -> Result<Arc<Self>> {
        Err(Error::missing_feature("AUTH_ISSUER", "oidc"))
    }

    /// Cannot be called, because no issuer exists.
    pub(super) async fn authenticate(&self, _token: &[u8]) -> Result<VerifiedCaller, AccessDenied> {
        match *self {}
    }
}
