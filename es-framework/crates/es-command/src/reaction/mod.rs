//! Reactions: the actions that an application takes on its own after an event. It sends commands or
//! calls other systems, at once or at a deadline.
//!
//! A reaction follows the events and plans a task for each action, see `planner.rs`. A task is a row of the state
//! database. `task_executor.rs` takes the tasks that are due, several at once and those of a subject in their order. So
//! unfinished work survives restarts, and one of several instances does it.

mod commands;
mod declared;
mod descriptor;
mod error;
mod executor_progress;
mod old_checkpoint;
mod planner;
pub mod publication;
mod reaction_key;
mod reactions;
mod rebuilt_states;
mod replay;
mod runner;
mod schedule;
mod schedule_start;
mod schedule_tasks;
mod schedule_times;
mod shared_reaction;
mod sink_steps;
mod step_executor;
mod subscriber;
mod task_begin;
mod task_end;
mod task_executor;
#[cfg(test)]
mod tests;

pub use commands::OutgoingCommand;
pub use commands::{IntoCommands, OutgoingCommands, ReactionContext};
pub use declared::{
    Deadline, DeadlineField, PendingCall, React, ReactionAction, ReactionStep, ReactionTiming,
    SendFunction, StartPosition, box_call, check_call, decode_event, shift_time,
};
pub use descriptor::ReactionDescriptor;
pub use error::ReactionError;
pub use reaction_key::ReactionKey;
pub use reactions::Reactions;
pub use rebuilt_states::{PendingCommands, box_commands};
pub use runner::ReactionRunner;
pub use runner::{ClockMove, catch_up, catch_up_at};
pub use schedule::{MissedTimes, Schedule};
pub use schedule_start::SCHEDULE_STARTED;
pub use sink_steps::sink_reaction;
pub use step_executor::ReactionRuntime;

pub use es_event::PoisonEvent;
