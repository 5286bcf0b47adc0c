//! Reactions: events that lead to commands or to calls of other systems, at once or when a deadline
//! has come. What is left to do survives restarts, since all of it follows from the event store.

mod action;
mod attempts;
mod checkpoint;
mod checkpoints;
mod deadlines;
mod declared;
mod due;
mod error;
mod perform;
mod reactions;
mod reactor;
mod reactors;
mod status;
mod stopped;
#[cfg(test)]
mod tests;

pub(crate) use action::Sent;
pub use action::{Commands, IntoCommands, Occasion, ReactionKey};
pub use declared::{
    Action, Begin, Deadline, Pending, React, ReactionDescriptor, Step, Time, When, check_services,
    happened, pending,
};
pub use error::ReactionError;
pub(crate) use perform::Ground;
pub use reactions::{Reactions, ReactionsError};
pub use reactors::Reactors;
pub(crate) use reactors::settle;
pub use status::{Status, Statuses};

pub use crate::projection::Refused;
