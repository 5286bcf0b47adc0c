//! Reactions: the actions that an application takes on its own after an event. It sends commands or
//! calls other systems, at once or at a deadline. `pipeline.rs` shows the steps. All of it follows
//! from the event store, so unfinished work survives restarts.

mod call_ends;
mod checkpoint;
mod checkpoint_store;
mod commands;
mod deadline_queue;
mod declared;
mod error;
mod executor;
mod foreign_lease;
mod graceful_stop;
mod held_retry;
mod held_subject;
mod open_schedules;
mod pipeline;
mod processor;
mod reaction_key;
mod reaction_progress;
mod reactions;
mod rebuilt_states;
mod runner;
mod running_calls;
mod schedule;
mod schedule_start;
mod schedule_times;
mod stop_reason;
mod stored_checkpoint;
mod subject_holds;
mod subscriber;
#[cfg(test)]
mod tests;

pub use commands::OutgoingCommand;
pub use commands::{IntoCommands, OutgoingCommands, ReactionContext};
pub use declared::{
    Deadline, DeadlineField, PendingCall, React, ReactionAction, ReactionDescriptor, ReactionStep,
    ReactionTiming, SendFunction, StartPosition, box_call, check_services, decode_event,
    shift_time,
};
pub use error::ReactionError;
pub use executor::ReactionRuntime;
pub use reaction_key::ReactionKey;
pub use reactions::Reactions;
pub use rebuilt_states::{PendingCommands, box_commands};
pub use runner::ReactionRunner;
pub use runner::{catch_up, catch_up_at};
pub use schedule::{MissedTimes, Schedule};
pub use schedule_start::SCHEDULE_STARTED;

pub use es_event::PoisonEvent;
