//! The settings of the issuer of tokens.

use std::sync::Arc;

use super::Issuer;
use crate::{Error, Result, config::Settings};

/// A token issuer, the audience that its tokens must have, and the claim that contains the roles.
#[derive(Debug, Clone)]
pub(in crate::http::auth) struct IssuerSettings {
    pub(in crate::http::auth) issuer: String,
    pub(in crate::http::auth) audience: String,
    pub(in crate::http::auth) roles_claim: String,
    pub(in crate::http::auth) owner_claim: String,
}

impl IssuerSettings {
    /// Returns the issuer that the settings name, if they name one.
    fn from_settings(settings: &Settings) -> Result<Option<Self>> {
        match (&settings.auth_issuer, &settings.auth_audience) {
            (Some(issuer), Some(audience)) => Ok(Some(Self {
                issuer: issuer.clone(),
                audience: audience.clone(),
                roles_claim: settings.auth_roles_claim.clone(),
                owner_claim: settings.auth_owner_claim.clone(),
            })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(Error::new(
                "AUTH_ISSUER needs AUTH_AUDIENCE, the name of this service at the issuer: without it, a token that was made for another service would count here",
            )),
            (None, Some(_)) => Err(Error::new(
                "AUTH_AUDIENCE needs AUTH_ISSUER: set both or none",
            )),
        }
    }
}

/// Creates the issuer that the settings name, and begins to fetch its keys.
pub(in crate::http::auth) fn connect_issuer(settings: &Settings) -> Result<Option<Arc<Issuer>>> {
    let Some(settings) = IssuerSettings::from_settings(settings)? else {
        return Ok(None);
    };
    let issuer = Arc::new(Issuer::new(settings)?);
    let fetching = Arc::clone(&issuer);
    tokio::spawn(async move { fetching.warm_up().await });
    Ok(Some(issuer))
}
