//! The events that an application declares.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};

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
