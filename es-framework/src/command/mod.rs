//! What is asked for and decided: commands, their handlers, and the bus that carries one from its
//! text to its events.

mod bus;
mod condition;
mod declared;
mod descriptor;
mod error;
mod handler;
mod parse;
mod registry;
mod rejection;
mod retry;
#[cfg(test)]
mod tests;
mod validate;

pub use bus::{Bus, Outcome};
pub use condition::Condition;
pub use declared::Command;
pub use descriptor::{CommandDescriptor, CommandText, Execute};
pub use error::{CommandError, MalformedCommand};
pub use handler::{Decision, Handle, HandlerError, IntoDecision, NewEvent};
pub use registry::{Registry, RegistryBuilder, RegistryError};
pub use rejection::{Rejection, RejectionDescriptor, RejectionKind};
pub use validate::{Validate, Violation, Violations, rules};
