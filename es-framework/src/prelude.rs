//! What a feature's file needs.

pub use uuid::Uuid;

pub use crate::{Command, Event, Rejection, handler, upcast};
