//! Sets up authentication.

use std::path::PathBuf;

use es_event::Result;
use es_net::{program_name, reloaded_value::ReloadedValue};

use super::{Auth, Authenticator, IssuerSettings, tokens::FileTokens};

/// The sources of the tokens that callers may have.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct AuthSettings {
    /// The file with the tokens of callers.
    pub tokens_file: Option<PathBuf>,
    /// The issuer of tokens.
    pub issuer: Option<IssuerSettings>,
}

impl Auth {
    /// Reads the tokens and connects to the issuer. Without both, everyone may call.
    ///
    /// # Errors
    /// The file cannot be read, or the issuer has no usable URL.
    pub fn from_settings(settings: AuthSettings) -> Result<Self> {
        let tokens = settings.tokens_file.map(watch_tokens).transpose()?;
        let issuer = match settings.issuer {
            None => None,
            #[cfg(feature = "oidc")]
            Some(issuer) => Some(super::Issuer::connect(issuer)?),
            #[cfg(not(feature = "oidc"))]
            Some(_) => return Err(es_event::Error::missing_feature("AUTH_ISSUER", "oidc")),
        };
        match (&tokens, &issuer) {
            (None, None) => Ok(Self::Open),
            _ => Ok(Self::Guarded(Authenticator::new(tokens, issuer))),
        }
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
