//! The events that an application declares.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::{InvalidPart, Subject};
use crate::Declaration;

/// Something that happened, in the past tense. `#[derive(Event)]` implements it.
///
/// ```
/// use es_framework::prelude::*;
///
/// #[derive(Event)]
/// #[event(subject = "/readers/{reader}")]
/// struct LoanOpenedEvent {
///     reader: String,
/// }
///
/// let opened = LoanOpenedEvent { reader: "ada".into() };
/// let subject = opened.subject(&"/books/42".parse()?)?;
/// assert_eq!(subject.as_str(), "/readers/ada");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use es_framework::{event::EventDescriptor, prelude::*};
///
/// #[derive(Event)]
/// struct BookRemovedEvent {
///     reason: String,
/// }
///
/// let removed = EventDescriptor::of::<BookRemovedEvent>();
/// assert_eq!(removed.event_type, "com.example.library.BookRemovedEvent");
/// assert_eq!((removed.recode)(r#"{"reason":"torn"}"#)?["reason"], "torn");
/// # Ok::<_, es_framework::event::Unreadable>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct EventDescriptor {
    /// The fully qualified type.
    pub event_type: &'static str,
    /// Where it is declared.
    pub declaration: Declaration,
    /// The JSON schema of its payload.
    pub schema: fn() -> Schema,
    /// Reads a payload and writes it again.
    pub recode: fn(&str) -> Result<Value, Unreadable>,
}

/// A payload that is no such event.
///
/// ```
/// use es_framework::{event::EventDescriptor, prelude::*};
///
/// #[derive(Event)]
/// struct BookRemovedEvent {
///     reason: String,
/// }
///
/// let unreadable = (EventDescriptor::of::<BookRemovedEvent>().recode)("{}").unwrap_err();
/// assert_eq!(unreadable.missing_member(), Some("reason"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}, at /{}", .place.join("/"))]
pub struct Unreadable {
    /// Where in the payload, from the outside in.
    pub place: Vec<String>,
    /// What stands against it.
    pub reason: String,
}

impl Unreadable {
    /// The member that is not there, if that is what stands against it.
    #[must_use]
    pub fn missing_member(&self) -> Option<&str> {
        let name = self.reason.strip_prefix("missing field `")?;
        name.split_once('`').map(|(name, _)| name)
    }
}

impl EventDescriptor {
    /// The descriptor of the event `E`.
    #[must_use]
    pub const fn of<E: Event>() -> Self {
        Self {
            event_type: E::TYPE,
            declaration: E::DECLARATION,
            schema: || SchemaGenerator::default().into_root_schema_for::<E>(),
            recode: recode::<E>,
        }
    }
}

fn recode<E: Event>(payload: &str) -> Result<Value, Unreadable> {
    let mut json = serde_json::Deserializer::from_str(payload);
    let event: E = serde_path_to_error::deserialize(&mut json).map_err(|error| Unreadable {
        place: place(error.path()),
        reason: reason(error.inner()),
    })?;
    serde_json::to_value(event).map_err(|error| Unreadable {
        place: vec![],
        reason: format!("it cannot be written again: {error}"),
    })
}

fn place(path: &Path) -> Vec<String> {
    let part = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { .. } | Segment::Unknown => None,
    };
    path.iter().filter_map(part).collect()
}

/// Without the line and the column, which say nothing about a payload.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}

inventory::collect!(EventDescriptor);
