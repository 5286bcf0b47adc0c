//! The errors of the command pipeline.

use std::borrow::Cow;

use super::{Rejection, RejectionKind, Violation};
use crate::{state::RebuildError, unique::ClaimError, validate::Violations};
use es_event::{DecodeError, EventId, InvalidSubjectValue, NotOwner, Subject, UnreadableValue};
use es_store::StoreError;

/// The error for a body that is empty or not JSON.
///
/// ```
/// use es_framework::command::{CommandError, NoJsonBody};
///
/// let error = CommandError::from(NoJsonBody::Empty);
/// assert_eq!(error.to_string(), "the body is empty: send the command as a JSON object");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum NoJsonBody {
    /// The body is not JSON.
    #[error("the body is not valid JSON: {0}")]
    Syntax(String),
    /// The body is empty.
    #[error("the body is empty: send the command as a JSON object")]
    Empty,
}

/// The reason why a command was not handled. Nothing was recorded, except perhaps with
/// [`CommandError::Unknown`].
///
/// ```
/// use es_framework::command::CommandError;
///
/// /// Returns true if a repetition may succeed and is safe even under another idempotency key.
/// fn try_again(error: &CommandError) -> bool {
///     match error {
///         CommandError::Contended(_) => true,
///         CommandError::Store(error) => error.is_transient(),
///         _ => false, // `Unknown` may have succeeded: repeat it under the same key
///     }
/// }
///
/// assert!(try_again(&CommandError::Contended("/books/42".parse()?)));
/// # Ok::<_, es_framework::event::InvalidSubject>(())
/// ```
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The body is empty or not JSON.
    #[error(transparent)]
    Malformed(#[from] NoJsonBody),
    /// The values break the rules of the command.
    #[error("the command's values are not valid")]
    Invalid(Vec<Violation>),
    /// The command requires a pristine subject, and the subject has events.
    #[error("{0} already exists")]
    AlreadyExists(Subject),
    /// The command requires a subject or state that does not exist.
    #[error("{0} does not exist")]
    NotFound(Subject),
    /// The subject is not in a version that the sender expects.
    #[error("{}", not_as_expected(subject, *latest))]
    NotAsExpected {
        /// The subject.
        subject: Subject,
        /// The last event of the subject.
        latest: Option<EventId>,
    },
    /// Another request was handled under the same idempotency key.
    #[error("another request was carried out under this idempotency key: use a key once only")]
    KeyReused,
    /// The command is about something that belongs to somebody else.
    #[error(transparent)]
    NotOwner(#[from] NotOwner),
    /// An event of the command holds personal data of somebody who is erased.
    #[error("the personal data of {0} is erased, and no more of it is stored")]
    ErasedPerson(String),
    /// Another subject has a value that must be unique.
    #[error("`{member}` has a value that is taken: the rule {rule} allows each value once")]
    NotUnique {
        /// The name of the rule.
        rule: &'static str,
        /// The JSON name of the event's field.
        member: &'static str,
    },
    /// The handler rejected the command.
    #[error("{0}")]
    Rejected(Box<dyn Rejection>),
    /// Other commands changed the subject during every attempt.
    #[error("{0} is changed by others at the moment: send the command again")]
    Contended(Subject),
    /// The connection to the event store broke, and it is unknown whether the events were recorded.
    #[error("it is unknown whether the command on {subject} was carried out: {reason}")]
    Unknown {
        /// The subject.
        subject: Subject,
        /// The description of the failure.
        reason: String,
    },
    /// The event store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored event does not fit its declaration.
    #[error(transparent)]
    Decode(DecodeError),
    /// The decision was not appended because of a mistake in the application: an event or the reply would not be
    /// read back as it is written, or an event has no valid subject.
    #[error("{0}")]
    Encode(String),
    /// The application does not provide a service that the handler takes.
    #[error("the application does not provide `{0}`")]
    NotProvided(&'static str),
}

impl CommandError {
    /// Refuses values that break a rule.
    pub(super) fn refuse_violations(violations: Violations) -> Result<(), Self> {
        match violations.into_vec() {
            none if none.is_empty() => Ok(()),
            violations => Err(Self::Invalid(violations)),
        }
    }

    /// Returns whether the framework or the handler rejects the command because of its values or of the states.
    pub(super) const fn is_rejection(&self) -> bool {
        matches!(
            self,
            Self::Malformed(_)
                | Self::Invalid(_)
                | Self::AlreadyExists(_)
                | Self::NotFound(_)
                | Self::NotAsExpected { .. }
                | Self::NotOwner(_)
                | Self::ErasedPerson(_)
                | Self::NotUnique { .. }
                | Self::Rejected(_)
        )
    }

    /// Returns whether the command names something that does not exist or that its sender may not change. Such a
    /// sender does not learn whether it has changed (RFC 9110, section 13.2.1).
    pub(super) fn precedes_expected_version(&self) -> bool {
        match self {
            Self::Rejected(rejection) => matches!(
                rejection.kind(),
                RejectionKind::NotFound | RejectionKind::Forbidden
            ),
            other => matches!(other, Self::NotFound(_) | Self::NotOwner(_)),
        }
    }
}

impl From<InvalidSubjectValue> for CommandError {
    fn from(part: InvalidSubjectValue) -> Self {
        let message = part.to_string();
        let pointer = format!("/{}", part.field);
        Self::Invalid(vec![Violation { pointer, message }])
    }
}

impl From<HandlerError> for CommandError {
    fn from(error: HandlerError) -> Self {
        match error {
            HandlerError::Rejected(rejection) => Self::Rejected(rejection),
            HandlerError::Encode { .. } | HandlerError::Subject { .. } => {
                Self::Encode(error.to_string())
            }
        }
    }
}

impl From<RebuildError> for CommandError {
    fn from(error: RebuildError) -> Self {
        match error {
            RebuildError::Store(error) => error.into(),
            RebuildError::Decode(error) => Self::Decode(error),
        }
    }
}

impl From<ClaimError> for CommandError {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::NotUnique { rule, member } => Self::NotUnique { rule, member },
            ClaimError::Store(error) => error.into(),
            ClaimError::Decode(error) => Self::Decode(error),
            ClaimError::Contended(subject) => Self::Contended(subject),
            ClaimError::Unreadable { .. } | ClaimError::Encode(_) => {
                Self::Encode(error.to_string())
            }
        }
    }
}

fn not_as_expected(subject: &Subject, latest: Option<EventId>) -> String {
    match latest {
        Some(latest) => format!("{subject} has changed: its last event is {latest}"),
        None => format!("{subject} does not exist"),
    }
}

/// The reason why a handler made no decision.
///
/// ```
/// use es_framework::{command::{UntypedDecision, HandlerError, IntoDecision}, prelude::*};
///
/// /// The copy is lent
/// #[derive(Debug, Rejection)]
/// #[rejection(conflict)]
/// struct CopyIsLent;
///
/// let mut decision = UntypedDecision::new("/books/42".parse()?, Metadata::default());
/// let error = Err::<(), _>(CopyIsLent).add_to(&mut decision).unwrap_err();
/// assert!(matches!(error, HandlerError::Rejected(rejection) if rejection.name() == "copy-is-lent"));
/// # Ok::<_, es_framework::event::InvalidSubject>(())
/// ```
#[derive(Debug, thiserror::Error)]
pub enum HandlerError {
    /// The handler rejected the command.
    #[error("{0}")]
    Rejected(Box<dyn Rejection>),
    /// An event, or the reply, has no JSON that is read back as the same value.
    #[error("{what} would not be read back as it is written: {reason}")]
    Encode {
        /// The event type or the reply.
        what: Cow<'static, str>,
        /// The faulty part, and the reason.
        reason: UnreadableValue,
    },
    /// A field of an event is not a valid segment of the event's subject.
    #[error("an event of type {event_type} has no subject: its {}: {part}", part.field)]
    Subject {
        /// The event's type.
        event_type: &'static str,
        /// The field.
        part: InvalidSubjectValue,
    },
}
