//! The authentication of callers. It runs before the body of a request is read.

mod caller;
mod denied;
mod guard;
mod issuer_settings;
#[cfg(feature = "oidc")]
mod jwt;
mod rate;
mod setup;
mod streams;
pub mod token_subcommand;
mod tokens;

#[doc(hidden)]
pub use caller::assume_caller;
pub use guard::Authenticator;
pub use issuer_settings::IssuerSettings;
pub use rate::ClientRateLimiter;
pub use setup::AuthSettings;

#[cfg(not(feature = "oidc"))]
use es_event::NotLinked as Issuer;
#[cfg(feature = "oidc")]
use jwt::Issuer;

pub(super) use caller::{AnonymousRequest, VerifiedCaller};
pub(super) use guard::with_authentication;

/// The authentication of callers.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub enum Auth {
    /// Everyone may call.
    #[default]
    Open,
    /// Callers have to authenticate.
    Guarded(Authenticator),
}
