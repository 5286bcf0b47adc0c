//! The settings that say who may call.

use std::{net::IpAddr, path::PathBuf, sync::Arc};

use clap::Args;

use super::{
    Auth, Guard,
    jwt::{Issuer, IssuerSettings},
    tokens::Tokens,
};
use crate::{Error, Result, file_watcher::FileWatcher};

/// Who may call.
///
/// ```
/// use clap::Parser as _;
/// use es_framework::config::Config;
///
/// let config = Config::parse_from(["library-app", "--auth-tokens-file", "tokens"]);
/// assert_eq!(config.auth.auth_roles_claim, "roles");
/// assert!(config.auth.auth_tokens_file.is_some());
/// ```
#[derive(Debug, Clone, Args)]
#[allow(rustdoc::bare_urls, reason = "--help shows them as they stand here")]
pub struct AuthSettings {
    /// File with the tokens of callers, as `token create` makes it. With it, every request needs a
    /// token.
    #[arg(long, env = "AUTH_TOKENS_FILE", value_name = "FILE")]
    pub auth_tokens_file: Option<PathBuf>,

    /// Issuer of tokens (OpenID Connect), such as http://localhost:8180/realms/library. With it,
    /// every request needs a token.
    #[arg(long, env = "AUTH_ISSUER", value_name = "URL")]
    pub auth_issuer: Option<String>,

    /// What the issuer calls this service: tokens for others are refused.
    #[arg(long, env = "AUTH_AUDIENCE", value_name = "NAME")]
    pub auth_audience: Option<String>,

    /// The claim that holds a caller's roles, such as scope or realm_access.roles.
    #[arg(
        long,
        env = "AUTH_ROLES_CLAIM",
        value_name = "NAME",
        default_value = "roles"
    )]
    pub auth_roles_claim: String,

    /// Lets everyone call, also on an address that other machines reach: for a service behind a
    /// proxy that checks its callers.
    #[arg(long, env = "HTTP_OPEN")]
    pub http_open: bool,

    /// Writes the name of the caller into the metadata of each event, under caller.
    #[arg(long, env = "EVENT_METADATA_CALLER")]
    pub event_metadata_caller: bool,
}

impl AuthSettings {
    /// Reads what they name. Everyone may call on a loopback address, and nowhere else unless that
    /// was asked for.
    ///
    /// # Errors
    /// They contradict each other, or what they name cannot be read.
    pub(crate) fn open(&self, name: &str, host: IpAddr) -> Result<Auth> {
        let is_guarded = self.auth_tokens_file.is_some() || self.auth_issuer.is_some();
        if self.http_open && is_guarded {
            return Err(Error::new(
                "HTTP_OPEN lets everyone call, and AUTH_TOKENS_FILE and AUTH_ISSUER do not: leave one of them out",
            ));
        }
        let (tokens, issuer) = (self.tokens()?, self.issuer()?);
        match (&tokens, &issuer) {
            (None, None) => self.without_auth(name, host),
            _ => Ok(Auth::Guarded(Guard::new(tokens, issuer))),
        }
    }

    fn tokens(&self) -> Result<Option<FileWatcher<Tokens>>> {
        let Some(file) = self.auth_tokens_file.clone() else {
            return Ok(None);
        };
        let files = vec![file.clone()];
        let read = {
            let file = file.clone();
            move || Tokens::read(&file)
        };
        let tokens = FileWatcher::start("the tokens", files, read)?;
        if tokens.current().is_empty() {
            let file = file.display();
            tracing::warn!("{file} holds no token yet: make one with `token create`");
        }
        Ok(Some(tokens))
    }

    fn issuer(&self) -> Result<Option<Arc<Issuer>>> {
        let (issuer, audience) = match (&self.auth_issuer, &self.auth_audience) {
            (Some(issuer), Some(audience)) => (issuer.clone(), audience.clone()),
            (None, None) => return Ok(None),
            (Some(_), None) => {
                return Err(Error::new(
                    "AUTH_ISSUER needs AUTH_AUDIENCE, what the issuer calls this service: without it, a token that was made for another service would count here",
                ));
            }
            (None, Some(_)) => {
                return Err(Error::new(
                    "AUTH_AUDIENCE needs AUTH_ISSUER: set both or none",
                ));
            }
        };
        let issuer = Arc::new(Issuer::new(IssuerSettings {
            issuer,
            audience,
            roles_claim: self.auth_roles_claim.clone(),
        })?);
        let warming = Arc::clone(&issuer);
        tokio::spawn(async move { warming.warm_up().await });
        Ok(Some(issuer))
    }

    fn without_auth(&self, name: &str, host: IpAddr) -> Result<Auth> {
        if self.event_metadata_caller {
            return Err(Error::new(
                "EVENT_METADATA_CALLER needs to know who calls: set AUTH_TOKENS_FILE or AUTH_ISSUER, or leave it out",
            ));
        }
        if host.is_loopback() || self.http_open {
            return Ok(Auth::Open);
        }
        Err(Error::new(format!(
            "{name} does not start: other machines reach it at {host} (HTTP_HOST), where anyone could call: set AUTH_TOKENS_FILE to a file that `{name} token create` made, AUTH_ISSUER and AUTH_AUDIENCE to an issuer of tokens, or HTTP_OPEN=true if a proxy before it checks its callers"
        )))
    }
}
