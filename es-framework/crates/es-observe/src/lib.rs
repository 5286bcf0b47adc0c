//! The log, the traces and the metrics of a program.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod metrics;
pub mod telemetry;
