//! The authentication of callers. It runs before the body of a request is read.

mod caller;
mod denied;
mod guard;
mod issuer_settings;
#[cfg(feature = "oidc")]
mod jwt;
mod public_routes;
mod rate;
mod setup;
mod streams;
pub(crate) mod token_subcommand;
mod tokens;

pub use caller::assume_caller;
pub use issuer_settings::IssuerSettings;

#[cfg(not(feature = "oidc"))]
use es_event::NotLinked as Issuer;
#[cfg(feature = "oidc")]
use jwt::Issuer;

pub(super) use caller::{RequestWithoutCredential, VerifiedCaller};
pub(super) use denied::AccessDenied;
pub(super) use guard::{check_access, with_authentication};
pub(super) use public_routes::PublicRoutes;
pub(super) use rate::{ClientRateLimiter, CountedClient};

use guard::Authenticator;

/// The authentication of callers. By default, everyone may call.
#[derive(Debug, Clone, Default)]
pub struct Auth(Option<Authenticator>);

impl Auth {
    /// Returns whether everyone may call.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.0.is_none()
    }
}
