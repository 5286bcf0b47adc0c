//! Services of a process: errors, log and traces, metrics, the TLS listener, file watchers and secrets.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

#[cfg(panic = "abort")]
compile_error!(
    "es-framework needs `panic = \"unwind\"`, which is the default: remove `panic = \"abort\"` from the profile in \
     Cargo.toml. A schema check that exceeds its budget unwinds, and so does a projection that fails, so with `abort` \
     a client or an event could end the process."
);

mod api_token;
mod application_error;
pub mod bearer;
mod dialect_name;
pub mod generated_token;
mod line_batches;
pub mod metrics;
pub mod net;
mod postgres_scheme;
mod program_name;
pub mod reloaded_value;
mod secret;
mod secret_arguments;
pub mod secret_file;
mod server_runtime;
pub mod shutdown;
#[doc(hidden)]
pub mod simulation;
pub mod telemetry;

pub use api_token::{ApiToken, InvalidApiToken};
pub use application_error::{Error, Result};
pub use dialect_name::EventDialectName;
pub use line_batches::LINE_BATCHES_HEADER;
#[doc(hidden)]
pub use postgres_scheme::strip_postgres_scheme;
pub use program_name::program_name;
pub use secret::{InvalidSecret, Secret};
pub use secret_arguments::hide_secrets_in_error;
#[doc(hidden)]
pub use server_runtime::{max_inline_reads, start_server_runtime};
