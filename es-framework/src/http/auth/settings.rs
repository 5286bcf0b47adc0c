//! The settings that say who may call.

use std::{net::IpAddr, path::PathBuf};

use clap::Args;

use super::{Auth, Guard, tokens::Tokens};
use crate::{Error, Result, watched::Watched};

/// Who may call.
#[derive(Debug, Clone, Default, Args)]
pub struct AuthSettings {
    /// File with the tokens of callers, as `token create` makes it. With it, every request needs a
    /// token.
    #[arg(long, env = "AUTH_TOKENS_FILE", value_name = "FILE")]
    pub auth_tokens_file: Option<PathBuf>,

    /// Lets everyone call, also on an address that other machines reach: for a service behind a
    /// proxy that checks its callers.
    #[arg(long, env = "HTTP_OPEN")]
    pub http_open: bool,
}

impl AuthSettings {
    /// Reads what they name. Everyone may call on a loopback address, and nowhere else unless that
    /// was asked for.
    ///
    /// # Errors
    /// They contradict each other, or what they name cannot be read.
    pub(crate) fn open(&self, name: &str, host: IpAddr) -> Result<Auth> {
        let Some(file) = &self.auth_tokens_file else {
            return self.without_auth(name, host);
        };
        if self.http_open {
            return Err(Error::new(
                "HTTP_OPEN lets everyone call and AUTH_TOKENS_FILE does not: leave one of them out",
            ));
        }
        let read = {
            let file = file.clone();
            move || Tokens::read(&file)
        };
        let tokens = Watched::start("the tokens", vec![file.clone()], read)?;
        if tokens.get().is_empty() {
            let file = file.display();
            tracing::warn!(
                "{file} holds no token, so nobody may call: make one with `token create`"
            );
        }
        Ok(Auth::Guarded(Guard::new(tokens)))
    }

    fn without_auth(&self, name: &str, host: IpAddr) -> Result<Auth> {
        if host.is_loopback() || self.http_open {
            return Ok(Auth::Open);
        }
        Err(Error::new(format!(
            "{name} does not start: other machines reach it at {host} (HTTP_HOST), where anyone could call: set AUTH_TOKENS_FILE to a file that `{name} token create` made, or HTTP_OPEN=true if a proxy before it checks its callers"
        )))
    }
}
