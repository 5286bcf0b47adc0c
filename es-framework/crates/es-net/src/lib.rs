//! The network side of a server program: the listener with its limits, TLS, secrets, reloaded files and signals.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod api_token;
#[doc(hidden)]
pub mod bearer;
mod client_identity;
mod client_wait;
mod connection_limit;
mod host_header;
mod http_listener;
mod keyed_rate_limiter;
mod limits;
mod peer_address;
mod program_name;
#[doc(hidden)]
pub mod reloaded_value;
mod secret;
mod secret_arguments;
mod server_runtime;
#[doc(hidden)]
pub mod shutdown;
#[cfg(feature = "tls")]
#[doc(hidden)]
pub mod tls;
/// A program without the feature `tls` has no TLS.
#[cfg(not(feature = "tls"))]
#[doc(hidden)]
pub mod tls {
    pub use es_event::NotLinked as ServerTls;

    /// No client of this program uses TLS.
    pub const fn install_cryptography() {}
}

pub use api_token::{ApiToken, InvalidApiToken};
pub use client_identity::ClientIdentity;
pub use host_header::{has_valid_host, names_this_machine};
pub use http_listener::{HttpListener, serve};
pub use keyed_rate_limiter::{KeyedRateLimiter, RateLimitExceeded};
pub use limits::ConnectionLimits;
pub use peer_address::PeerAddress;
pub use program_name::program_name;
pub use secret::{InvalidSecret, Secret};
pub use secret_arguments::hide_secrets_in_error;
pub use server_runtime::start_server_runtime;
