//! An event-sourcing framework: declare a command, an event and a handler; the rest is supplied.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

// So that what the macros write, `::es_framework::…`, also resolves in here.
#[allow(unused_extern_crates)]
extern crate self as es_framework;

mod app;
pub mod command;
pub mod config;
mod declaration;
mod error;
pub mod event;
#[cfg(test)]
mod garden;
pub mod http;
mod net;
pub mod prelude;
pub mod projection;
pub mod query;
pub mod server;
pub mod store;

pub use app::App;
pub use command::Command;
pub use declaration::Declaration;
pub use error::{Error, Result};
pub use es_macros::{Command, Event, handler};
pub use event::Event;

/// What the macros write code against. Not for use by hand: it may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use inventory;
    pub use schemars;
    pub use serde;
}
