//! Replaces the verification of JWTs in a program without the feature `oidc`.

use std::sync::Arc;

use super::{VerifiedCaller, denied::AccessDenied};
use crate::{Error, Result, config::Settings};

/// An issuer. A program without the feature never has one.
#[derive(Debug)]
pub(super) enum Issuer {}

impl Issuer {
    /// Cannot be called, because no issuer exists.
    pub(super) async fn authenticate(&self, _token: &[u8]) -> Result<VerifiedCaller, AccessDenied> {
        match *self {}
    }
}

/// Refuses the settings if they name an issuer.
pub(super) fn connect_issuer(settings: &Settings) -> Result<Option<Arc<Issuer>>> {
    match settings.auth_issuer {
        Some(_) => Err(Error::missing_feature("AUTH_ISSUER", "oidc")),
        None => Ok(None),
    }
}
