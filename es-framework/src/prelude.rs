//! What a feature's file needs.

pub use jiff::Timestamp;
pub use uuid::Uuid;

pub use crate::{
    Command, Event, Rejection, Service, Settings, State, Value,
    command::{Clock, Decision},
    event::Metadata,
    evolve, handler, upcast,
};
