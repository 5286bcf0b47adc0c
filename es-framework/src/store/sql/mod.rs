//! Event stores on SQL databases.

pub mod embedded;
