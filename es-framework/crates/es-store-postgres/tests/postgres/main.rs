//! The event store on real PostgreSQL servers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests fail by panicking"
)]

mod automatic_failover;
mod cluster;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../../tests/support/connection_proxy.rs"]
mod connection_proxy;
mod contract;
mod copy;
mod damage;
mod failover;
mod instances;
mod interruptions;
mod patroni_cluster;
mod pooled;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../../tests/support/postgres_server.rs"]
mod postgres_server;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../../tests/support/requirement.rs"]
mod requirement;
mod start;
mod store_fixture;
mod tls;
