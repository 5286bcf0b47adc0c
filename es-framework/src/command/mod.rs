//! What is asked for and decided: commands, their handlers, and the bus that carries one from its
//! text to its events.

mod bus;
mod clock;
mod condition;
mod context;
mod decision;
mod declared;
mod descriptor;
mod error;
mod handler;
mod idempotency;
mod inject;
mod lock;
mod metrics;
mod parse;
mod reading;
mod registry;
mod rejection;
mod retry;
#[cfg(test)]
mod tests;
mod writing;

pub(crate) use bus::once;
pub use bus::{CommandBus, CommandOutcome};
pub use clock::Clock;
pub use condition::Condition;
pub use context::{
    CommandContext, CommandRequest, ExpectedVersion, IdempotencyKey, InvalidIdempotencyKey,
};
pub use decision::{Decision, IntoDecision, NewEvent, Reply, UntypedDecision};
pub use declared::Command;
pub use descriptor::{CommandDescriptor, Execute};
pub use error::{CommandError, HandlerError, MalformedCommand, RegistryError};
pub use handler::{Handle, HandlerContext};
pub use inject::{Inject, IsState, Parameter, ParameterOrigin, ServiceKind, Services};
pub use registry::{Registry, RegistryBuilder};
pub use rejection::{Rejection, RejectionDescriptor, RejectionKind};

pub use crate::validate::Violation;
