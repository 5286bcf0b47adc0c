//! The trait of declared events, and their descriptors.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::{InvalidSubjectValue, Subject, UniqueRules, UniqueValue, json_numbers, personal};
use crate::Declaration;

/// An event type that an application declares, named in the past tense. `#[derive(Event)]`
/// implements this trait.
///
/// ```
/// use es_event::{Declaration, Event, InvalidSubjectValue, Subject, SubjectTemplatePart};
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct LoanOpenedEvent {
///     reader: String,
/// }
/// impl Event for LoanOpenedEvent {
///     const TYPE: &str = "com.example.library.LoanOpenedEvent";
///     const DECLARATION: Declaration = es_event::declaration!();
///     const SUBJECT: Option<&str> = Some("/readers/{reader}");
///
///     fn subject(&self, _: &Subject) -> Result<Subject, InvalidSubjectValue> {
///         let reader = SubjectTemplatePart::Field("reader", &self.reader);
///         Subject::fill_template(&[SubjectTemplatePart::Text("/readers/"), reader])
///     }
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
    /// The package, module, file and line of the declaration.
    const DECLARATION: Declaration;
    /// The template of the event's subject. Without a template, the event belongs to its command's
    /// subject.
    const SUBJECT: Option<&'static str> = None;

    /// True if no state, read model, reaction or publication has to consume the event.
    const INFORMATIONAL: bool = false;

    /// The fields that contain personal values, or whose types may contain some, each with its JSON name.
    #[doc(hidden)]
    const PERSONAL: &'static [(&'static str, &'static str)] = &[];

    /// The rules about unique values.
    const UNIQUE: UniqueRules = UniqueRules::NONE;

    /// Returns the values of the unique fields, in the order of [`Event::UNIQUE`].
    #[doc(hidden)]
    fn unique_values(&self) -> Vec<UniqueValue> {
        Vec::new()
    }

    /// Returns the event's subject, given the subject of the command that produced the event.
    ///
    /// # Errors
    /// Fails if a field's value cannot be part of a subject.
    fn subject(&self, command: &Subject) -> Result<Subject, InvalidSubjectValue> {
        Ok(command.clone())
    }
}

/// The declaration of an event as plain data.
///
/// ```
/// use es_event::{Declaration, Event, EventDescriptor};
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct BookRemovedEvent {
///     reason: String,
/// }
/// # impl Event for BookRemovedEvent {
/// #     const TYPE: &str = "com.example.library.BookRemovedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// let removed = EventDescriptor::of::<BookRemovedEvent>();
/// assert_eq!(removed.event_type, "com.example.library.BookRemovedEvent");
/// assert_eq!((removed.recode)(r#"{"reason":"torn"}"#)?["reason"], "torn");
/// # Ok::<_, es_event::UnreadablePayload>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct EventDescriptor {
    /// The fully qualified type.
    pub event_type: &'static str,
    /// The package, module, file and line of the declaration.
    pub declaration: Declaration,
    /// The template of the event's subject. Without it, the event belongs to its command's subject.
    pub subject: Option<&'static str>,
    /// True if no state, read model, reaction or publication has to consume the event.
    pub informational: bool,
    /// The rules about unique values.
    pub unique: UniqueRules,
    /// Returns the JSON schema of the payload.
    pub schema: fn() -> Schema,
    /// Deserializes a payload and serializes it again.
    pub recode: fn(&str) -> Result<Value, UnreadablePayload>,
    /// Deserializes a payload and serializes it with a mark around each value that is declared as personal.
    #[doc(hidden)]
    pub mark_personal: fn(&str) -> Result<String, UnreadablePayload>,
    /// Deserializes a payload and returns the values of its unique fields.
    #[doc(hidden)]
    pub unique_values: fn(&str) -> Result<Vec<UniqueValue>, UnreadablePayload>,
}

/// The error for a payload that does not deserialize into the event.
///
/// ```
/// use es_event::{Declaration, Event, EventDescriptor};
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct BookRemovedEvent {
///     reason: String,
/// }
/// # impl Event for BookRemovedEvent {
/// #     const TYPE: &str = "com.example.library.BookRemovedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// let unreadable = (EventDescriptor::of::<BookRemovedEvent>().recode)("{}").unwrap_err();
/// assert_eq!(unreadable.missing_member(), Some("reason"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}, at /{}", .path.join("/"))]
pub struct UnreadablePayload {
    /// The path of the faulty value in the payload, from the outside in.
    pub path: Vec<String>,
    /// The reason for the failure.
    pub reason: String,
}

impl UnreadablePayload {
    /// Returns the name of the missing member, if a missing member is the reason.
    #[must_use]
    pub fn missing_member(&self) -> Option<&str> {
        let name = self.reason.strip_prefix("missing field `")?;
        name.split_once('`').map(|(name, _)| name)
    }
}

impl EventDescriptor {
    /// Returns the descriptor of the event `E`.
    #[must_use]
    pub const fn of<E: Event>() -> Self {
        Self {
            event_type: E::TYPE,
            declaration: E::DECLARATION,
            subject: E::SUBJECT,
            informational: E::INFORMATIONAL,
            unique: E::UNIQUE,
            schema: || SchemaGenerator::default().into_root_schema_for::<E>(),
            recode: recode::<E>,
            mark_personal: mark_personal::<E>,
            unique_values: |payload| Ok(decode::<E>(payload)?.unique_values()),
        }
    }
}

impl EventDescriptor {
    /// Returns true if the event has a member that is declared as personal, at any depth.
    #[doc(hidden)]
    #[must_use]
    pub fn has_personal_data(&self) -> bool {
        let schema = (self.schema)().to_value().to_string();
        schema.contains(&format!("\"{}\":", personal::KEYWORD))
    }
}

/// Deserializes a payload as `E` and serializes it again.
fn recode<E: Event>(payload: &str) -> Result<Value, UnreadablePayload> {
    let event: E = decode(payload)?;
    serde_json::to_value(event).map_err(unwritable)
}

/// Deserializes a payload as `E` and marks its personal data.
fn mark_personal<E: Event>(payload: &str) -> Result<String, UnreadablePayload> {
    let event: E = decode(payload)?;
    personal::to_marked_json(&event).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> UnreadablePayload {
    UnreadablePayload {
        path: vec![],
        reason: format!("it cannot be written again: {error}"),
    }
}

/// Deserializes a payload, and locates an error.
pub(super) fn decode<T: DeserializeOwned>(payload: &str) -> Result<T, UnreadablePayload> {
    if let Ok(value) = json_numbers::read_json(payload) {
        return Ok(value);
    }
    let payload = json_numbers::spell_out_integers(payload);
    let mut json = serde_json::Deserializer::from_str(&payload);
    serde_path_to_error::deserialize(&mut json).map_err(|error| UnreadablePayload {
        path: segments(error.path()),
        reason: reason(error.inner()),
    })
}

fn segments(path: &Path) -> Vec<String> {
    let part = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { .. } | Segment::Unknown => None,
    };
    path.iter().filter_map(part).collect()
}

/// Returns serde's message without line and column, which do not help with a payload.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}

inventory::collect!(EventDescriptor);
