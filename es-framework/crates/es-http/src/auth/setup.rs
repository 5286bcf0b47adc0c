//! Sets up authentication.

use std::path::PathBuf;

use es_event::Result;
use es_net::{program_name, reloaded_value::ReloadedValue};

use super::{Auth, Authenticator, IssuerSettings, tokens::FileTokens};

impl Auth {
    /// Reads the tokens of callers from a file, and connects to the issuer of tokens. Without both, everyone may call.
    ///
    /// # Errors
    /// The file cannot be read, or the issuer has no usable URL.
    pub fn open(tokens_file: Option<PathBuf>, issuer: Option<IssuerSettings>) -> Result<Self> {
        let tokens = tokens_file.map(watch_tokens).transpose()?;
        let issuer = match issuer {
            None => None,
            #[cfg(feature = "oidc")]
            Some(issuer) => Some(super::Issuer::connect(issuer)?),
            #[cfg(not(feature = "oidc"))]
            Some(_) => return Err(es_event::Error::missing_feature("AUTH_ISSUER", "oidc")),
        };
        let is_guarded = tokens.is_some() || issuer.is_some();
        Ok(Self(is_guarded.then(|| Authenticator::new(tokens, issuer))))
    }
}

/// Reads the tokens of callers, and reads them again when their file changes.
fn watch_tokens(file: PathBuf) -> Result<ReloadedValue<FileTokens>> {
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
    Ok(tokens)
}
