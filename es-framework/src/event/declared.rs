//! The events that an application declares.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};

use super::{InvalidPart, Subject};
use crate::Declaration;

/// Something that happened, in the past tense. `#[derive(Event)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event",
    label = "this is no event",
    note = "put `#[derive(Event)]` on the struct `{Self}`"
)]
pub trait Event: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The fully qualified type, such as `com.example.library.BookPurchasedEvent`.
    const TYPE: &'static str;
    /// Where it is declared.
    const DECLARATION: Declaration;
    /// The template of its subject; without one, it is about what its command is about.
    const SUBJECT: Option<&'static str> = None;

    /// What it is about, given the subject of the command that led to it.
    ///
    /// # Errors
    /// A field's value cannot stand in a subject.
    fn subject(&self, command: &Subject) -> Result<Subject, InvalidPart> {
        Ok(command.clone())
    }
}

/// An event's declaration without its Rust type.
#[derive(Debug, Clone, Copy)]
pub struct EventDescriptor {
    /// The fully qualified type.
    pub event_type: &'static str,
    /// Where it is declared.
    pub declaration: Declaration,
    /// The JSON schema of its payload.
    pub schema: fn() -> Schema,
}

impl EventDescriptor {
    /// The descriptor of the event `E`.
    #[must_use]
    pub const fn of<E: Event>() -> Self {
        Self {
            event_type: E::TYPE,
            declaration: E::DECLARATION,
            schema: || SchemaGenerator::default().into_root_schema_for::<E>(),
        }
    }
}

inventory::collect!(EventDescriptor);
