//! The library service as its operators see it: start, stop, deployment, metrics, logs, read models
//! and reactions.

mod deployment;
mod dry_run;
pub(crate) mod failed_start;
mod instance_takeover;
mod lifecycle;
mod metrics;
mod outage;
mod postgres_store;
mod projection;
mod reaction;
mod several_machines;
mod telemetry;
