//! Event stores on SQL databases.

pub mod embedded;

pub use embedded::EmbeddedStore;
