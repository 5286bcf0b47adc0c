//! The official client for Rust, unchanged, with a module `container` that starts the program `event-store`
//! instead of a container. It has the functions that the tests of architecturekit call.

pub mod container;

#[allow(dead_code, reason = "the tests of the program use more of it")]
#[path = "../../../event_store/server_process.rs"]
mod server_process;

pub use official::*;
