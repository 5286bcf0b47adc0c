//! The operator API: status, rebuild, retry and skip of projections and reactions, and dry runs of commands,
//! over HTTP and on the command line.

#[cfg(feature = "client")]
mod application_host;
mod authorization;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod client_tls;
pub(crate) mod component;
#[cfg(feature = "console")]
mod console_dry_run;
pub(crate) mod dry_run;
#[cfg(feature = "client")]
mod dry_run_subcommand;
#[cfg_attr(not(feature = "console"), allow(unreachable_pub))]
pub(crate) mod dry_runner;
#[cfg(feature = "client")]
mod event_selection_arguments;
pub mod generated_token;
#[cfg(feature = "client")]
pub mod operator_subcommand;
pub(crate) mod personal_data;
#[cfg(feature = "client")]
mod personal_files;
#[cfg(feature = "client")]
mod personal_subcommand;
mod routes;
#[cfg(feature = "client")]
mod text_output;
#[cfg(feature = "client")]
mod unique_subcommand;
pub(crate) mod unique_values;

#[cfg(feature = "console")]
pub use dry_runner::DryRunner;
pub(super) use routes::routes;
