//! The operator API: status, rebuild, retry and skip of projections and reactions, and dry runs of commands,
//! over HTTP and on the command line.

mod authorization;
mod client;
mod client_tls;
mod component;
mod dry_run;
mod dry_run_subcommand;
mod host;
mod openapi;
pub(crate) mod operator_subcommand;
mod routes;

pub(super) use openapi::operations;
pub(super) use routes::routes;
