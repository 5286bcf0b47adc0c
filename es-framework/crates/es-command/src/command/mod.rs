//! Commands, their handlers, and the pipeline from a request to recorded events (`pipeline.rs`).

mod append;
mod command_resources;
#[doc(hidden)]
pub mod command_statistics;
mod context;
mod decision;
mod declared;
mod descriptor;
mod dry_run;
mod dry_run_decision;
mod error;
mod fill_subjects;
mod handler;
mod idempotency;
mod inject;
mod input;
mod input_slot;
mod json_members;
mod lock;
mod metrics;
mod nul_check;
mod order;
mod outcome;
mod parameter;
mod parse;
mod past_store;
mod pipeline;
mod prepared_command;
mod random_numbers;
mod rejection;
mod retry;
mod shared_fields;
mod subject_condition;
#[cfg(test)]
mod tests;
mod wrong_values;

pub use command_resources::CommandResources;
pub use context::{
    CommandContext, CommandRequest, ExpectedVersion, IdempotencyKey, InvalidIdempotencyKey,
    SeenVersion,
};
pub use decision::{Decision, HandlerEvent, IntoDecision, ReplySchema, UntypedDecision};
pub use declared::Command;
pub use descriptor::CommandDescriptor;
pub use dry_run::{DryRun, DryRunError, DryRunRejection, dry_run};
pub use dry_run_decision::DryRunDecision;
pub use error::{CommandError, HandlerError, NoJsonBody};
#[doc(hidden)]
pub use fill_subjects::fill_subjects;
pub use handler::{Handle, Handler, HandlerFunction};
#[doc(hidden)]
pub use inject::query_service;
pub use inject::{Inject, InjectIntoCall, InjectIntoQuery, InputSource, IsState, ParameterOrigin};
pub(crate) use inject::{RebuildFunction, StateFunctions};
pub use input::{HandlerInputs, Input, OptionalState, StatesOfSubjects};
#[doc(hidden)]
pub use json_members::split_member;
#[doc(hidden)]
pub use order::CommandOrder;
pub use outcome::CommandOutcome;
pub use parameter::Parameter;
pub(crate) use past_store::PastEnd;
pub use pipeline::handle_command;
pub use random_numbers::RandomNumbers;
pub use rejection::{Rejection, RejectionDescriptor, RejectionKind};
#[doc(hidden)]
pub use shared_fields::{HasField, SameType, has_field};
pub use subject_condition::SubjectCondition;

pub use crate::{new_event::NewEvent, validate::Violation};
pub use es_event::{Clock, ServiceType, Services};
