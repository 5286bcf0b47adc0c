//! The operator API: status, rebuild, retry and skip of projections and reactions, over HTTP and on the command line,
//! and dry runs of commands over HTTP.

mod authorization;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod client_tls;
pub(crate) mod component;
#[cfg(feature = "client")]
pub(crate) mod component_subcommand;
pub(crate) mod dry_run;
pub mod generated_token;
pub(crate) mod personal_data;
#[cfg(feature = "client")]
pub(crate) mod personal_subcommand;
pub(crate) mod routes;
#[cfg(feature = "client")]
pub(crate) mod unique_subcommand;
pub(crate) mod unique_values;

pub(super) use routes::routes;
