//! The operator API: status, rebuild, retry and skip of projections and reactions, over HTTP and on
//! the command line.

mod authorization;
mod client;
mod client_tls;
mod component;
mod host;
mod openapi;
pub(crate) mod operator_subcommand;
mod routes;

pub(super) use openapi::operations;
pub(super) use routes::routes;
