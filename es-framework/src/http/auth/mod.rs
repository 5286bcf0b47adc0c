//! Who may call: every request is checked before anything of it but its head is read.

mod caller;
pub(crate) mod cli;
mod denied;
mod guard;
mod jwt;
mod rate;
mod setup;
mod streams;
mod tokens;

pub use caller::Caller;
pub use guard::Guard;
pub use rate::RateLimit;

pub(super) use caller::Anonymous;
pub(super) use guard::guarded;

/// Who may call.
///
/// ```
/// use es_framework::http::auth::Auth;
///
/// assert!(matches!(Auth::default(), Auth::Open));
/// ```
#[derive(Debug, Clone, Default)]
pub enum Auth {
    /// Everyone.
    #[default]
    Open,
    /// Those who prove who they are.
    Guarded(Guard),
}
