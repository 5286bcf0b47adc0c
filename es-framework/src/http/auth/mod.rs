//! The authentication of callers. It runs before the body of a request is read.

mod caller;
mod client_identity;
mod denied;
mod guard;
#[cfg(feature = "oidc")]
mod jwt;
#[cfg(not(feature = "oidc"))]
#[path = "no_jwt.rs"]
mod jwt;
mod rate;
mod setup;
mod streams;
pub(crate) mod token_subcommand;
mod tokens;

pub use guard::Authenticator;
pub use rate::ClientRateLimiter;

pub(super) use caller::{AnonymousRequest, VerifiedCaller};
pub(super) use client_identity::ClientIdentity;
pub(super) use guard::with_authentication;

/// The authentication of callers.
///
/// ```
/// use es_framework::http::auth::Auth;
///
/// assert!(matches!(Auth::default(), Auth::Open));
/// ```
#[derive(Debug, Clone, Default)]
pub enum Auth {
    /// Everyone may call.
    #[default]
    Open,
    /// Callers have to authenticate.
    Guarded(Authenticator),
}
