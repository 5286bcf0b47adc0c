//! The operator API: status, rebuild, retry and skip of projections and reactions, over HTTP and on the command line,
//! and dry runs of commands over HTTP.

#[cfg(feature = "client")]
mod application_host;
mod authorization;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod client_tls;
pub(crate) mod component;
pub(crate) mod dry_run;
pub(crate) mod dry_runner;
#[cfg(feature = "client")]
mod event_selection_arguments;
pub mod generated_token;
#[cfg(feature = "client")]
pub mod operator_subcommand;
pub(crate) mod personal_data;
#[cfg(feature = "client")]
#[cfg(feature = "client")]
mod personal_subcommand;
pub(crate) mod routes;
#[cfg(feature = "client")]
mod text_output;
#[cfg(feature = "client")]
mod unique_subcommand;
pub(crate) mod unique_values;

pub(super) use routes::routes;
