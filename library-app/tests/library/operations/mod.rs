//! The library service as its operators see it: start, stop, deployment, metrics, logs, read models
//! and reactions.

mod damaged_store;
mod deployment;
mod dry_run;
pub(crate) mod failed_start;
mod import;
mod lifecycle;
mod loan_limit;
mod operator_over_tls;
mod projection;
mod reaction;
mod several_machines;
