//! The operator API: status, rebuild, retry and skip of projections and reactions, over HTTP and on
//! the command line.

mod authorization;
pub(crate) mod cli;
mod client;
mod component;
mod host;
mod openapi;
mod routes;
mod tls;

pub(super) use openapi::operations;
pub(super) use routes::routes;
