//! Sets up authentication from the settings.

use std::collections::BTreeSet;

use super::{Auth, Authenticator, jwt::connect_issuer, tokens::FileTokens};
use es_runtime::program_name;

use crate::{Error, Result, config::Settings, reloaded_value::ReloadedValue};

impl Auth {
    /// Reads the tokens and connects to the issuer that the settings name. Without both, everyone
    /// may call on a loopback address, and elsewhere only with `HTTP_OPEN`.
    ///
    /// # Errors
    /// The settings contradict each other, or a file that they name cannot be read.
    pub(crate) fn from_settings(name: &str, settings: &Settings) -> Result<Self> {
        Self::check_settings(name, settings)?;
        let (tokens, issuer) = (watch_tokens(settings)?, connect_issuer(settings)?);
        match (&tokens, &issuer) {
            (None, None) => Ok(Self::Open),
            _ => Ok(Self::Guarded(Authenticator::new(tokens, issuer))),
        }
    }

    /// Refuses settings that contradict each other or that let other machines in without
    /// authentication. It opens nothing, so it runs before the application listens.
    ///
    /// # Errors
    /// The settings contradict each other, or let other machines in without authentication.
    pub(crate) fn check_settings(name: &str, settings: &Settings) -> Result<()> {
        check_token_strength(name, settings)?;
        let is_guarded = settings.auth_tokens_file.is_some() || settings.auth_issuer.is_some();
        if is_guarded && settings.http_open {
            return Err(Error::new(
                "HTTP_OPEN lets everyone call, and AUTH_TOKENS_FILE and AUTH_ISSUER do not: leave one of them out",
            ));
        }
        if is_guarded {
            return Ok(());
        }
        check_without_authentication(name, settings)
    }
}

/// Reads the tokens of callers, and reads them again when their file changes.
fn watch_tokens(settings: &Settings) -> Result<Option<ReloadedValue<FileTokens>>> {
    let Some(file) = settings.auth_tokens_file.clone() else {
        return Ok(None);
    };
    let files = vec![file.clone()];
    let read = {
        let file = file.clone();
        move || FileTokens::read_file(&file)
    };
    let tokens = ReloadedValue::load_and_watch("the tokens", files, read)?;
    if tokens.current().is_empty() {
        let file = file.display();
        let program = program_name();
        tracing::warn!("{file} holds no token yet: make one with `{program} token create`");
    }
    Ok(Some(tokens))
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
