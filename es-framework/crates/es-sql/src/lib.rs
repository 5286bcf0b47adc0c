//! The one access to SQLite and PostgreSQL. The crate is a part of the framework, not of its API.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::unwrap_used
    )
)]

#[cfg(feature = "postgres")]
#[doc(hidden)]
pub mod postgres;
