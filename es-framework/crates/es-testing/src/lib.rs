//! Tests of applications. Nothing of it is linked into a service.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod schema_lock;
