//! Read models, projections and queries on SQLite and PostgreSQL.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

// Lets the paths `::es_framework::…`, which the macros write, resolve in the unit tests.
#[cfg(test)]
extern crate self as es_framework;

pub mod projection;
pub mod query;

#[cfg(test)]
mod facade;
#[cfg(test)]
pub use facade::*;
