//! The settings of authentication, and the checks that they let no stranger in.

use std::collections::BTreeSet;

use es_http::auth::IssuerSettings;
use es_net::program_name;

use super::Settings;
use crate::{Error, Result};

impl Settings {
    /// Returns the issuer that the settings name, if they name one.
    pub(crate) fn issuer(&self) -> Result<Option<IssuerSettings>> {
        match (&self.auth_issuer, &self.auth_audience) {
            (Some(issuer), Some(audience)) => Ok(Some(IssuerSettings {
                issuer: issuer.clone(),
                audience: audience.clone(),
                roles_claim: self.auth_roles_claim.clone(),
                owner_claim: self.auth_owner_claim.clone(),
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

    /// Refuses settings that contradict each other or that let other machines in without
    /// authentication. It opens nothing, so it runs before the application listens.
    pub(crate) fn check_authentication(&self, name: &str) -> Result<()> {
        check_token_strength(name, self)?;
        let is_guarded = self.auth_tokens_file.is_some() || self.auth_issuer.is_some();
        if is_guarded && self.http_open {
            return Err(Error::new(
                "HTTP_OPEN lets everyone call, and AUTH_TOKENS_FILE and AUTH_ISSUER do not: leave one of them out",
            ));
        }
        if is_guarded {
            return Ok(());
        }
        check_without_authentication(name, self)
    }
}

/// The shortest API token for a service that other machines reach. A random text of 16 letters and digits has 95 bits.
const MIN_TOKEN_LENGTH: usize = 16;
/// The smallest number of different characters in such a token.
const MIN_TOKEN_VARIETY: usize = 8;

/// Refuses an API token that other machines could guess. It makes its holder an operator.
fn check_token_strength(name: &str, settings: &Settings) -> Result<()> {
    let is_reachable = !settings.http_host.is_loopback()
        || settings.http_open
        || !settings.event_store_host.is_loopback();
    let Some(token) = &settings.event_store_api_token else {
        return Ok(());
    };
    let token = token.reveal();
    let variety = token.bytes().collect::<BTreeSet<_>>().len();
    if !is_reachable || (token.len() >= MIN_TOKEN_LENGTH && variety >= MIN_TOKEN_VARIETY) {
        return Ok(());
    }
    Err(Error::new(format!(
        "{name} does not start: other machines reach it, and EVENT_STORE_API_TOKEN, which makes its holder an operator, is easy to guess: use at least {MIN_TOKEN_LENGTH} random characters, such as those of `openssl rand -hex 32`"
    )))
}

fn check_without_authentication(name: &str, settings: &Settings) -> Result<()> {
    let host = settings.http_host;
    if settings.event_metadata_caller {
        return Err(Error::new(
            "EVENT_METADATA_CALLER needs to know who calls: set AUTH_TOKENS_FILE or AUTH_ISSUER, or leave it out",
        ));
    }
    if host.is_loopback() || settings.http_open {
        return Ok(());
    }
    let program = program_name();
    Err(Error::new(format!(
        "{name} does not start: other machines reach it at {host} (HTTP_HOST), where anyone could call: set AUTH_TOKENS_FILE to a file that `{program} token create` made, AUTH_ISSUER and AUTH_AUDIENCE to an issuer of tokens, or HTTP_OPEN=true if a proxy before it checks its callers"
    )))
}
