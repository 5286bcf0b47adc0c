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
mod operator;
mod perform;
mod reactions;
mod reactor;
mod reactors;
mod status;
mod stopped;
#[cfg(test)]
mod tests;

pub(crate) use action::OutgoingCommand;
pub use action::{IntoCommands, OutgoingCommands, ReactionContext, ReactionKey};
pub use declared::{
    Deadline, DeadlineTime, PendingCall, React, ReactionAction, ReactionDescriptor, ReactionStep,
    ReactionTiming, StartPosition, box_call, check_services, decode_event,
};
pub use error::ReactionError;
pub use operator::{Asked, Operator, OperatorError};
pub(crate) use perform::ReactionRuntime;
pub use reactions::{Reactions, ReactionsError};
pub use reactors::ReactionRunner;
pub(crate) use reactors::settle;
pub use status::{ReactionStatus, ReactionStatuses};

pub use crate::projection::Refused;
