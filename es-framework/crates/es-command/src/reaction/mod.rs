//! Reactions: what an application does about events by itself. An event leads to commands or to
//! calls of other systems, at once or at a deadline. `pipeline.rs` shows the steps. All of it follows
//! from the event store, so unfinished work survives restarts.

mod checkpoint;
mod checkpoint_store;
mod commands;
mod deadline_queue;
mod declared;
mod error;
mod executor;
mod parked;
mod pipeline;
mod processor;
mod reactions;
mod runner;
mod status;
#[cfg(test)]
mod tests;

pub use commands::OutgoingCommand;
pub use commands::{IntoCommands, OutgoingCommands, ReactionContext, ReactionKey};
pub use declared::{
    Deadline, DeadlineTime, PendingCall, React, ReactionAction, ReactionDescriptor, ReactionStep,
    ReactionTiming, StartPosition, box_call, check_services, decode_event,
};
pub use error::ReactionError;
pub use executor::ReactionRuntime;
pub use reactions::{Reactions, ReactionsError};
pub use runner::ReactionRunner;
pub use runner::catch_up;
pub use status::{ReactionStatus, ReactionStatuses};

pub use es_event::PoisonEvent;
