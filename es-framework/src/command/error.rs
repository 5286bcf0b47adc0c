//! Why a command was not carried out.

use super::{Rejection, Violation};
use crate::{
    event::{DecodeError, EventId, Subject},
    store::StoreError,
};

/// A text that is no command at all.
#[derive(Debug, thiserror::Error)]
pub enum MalformedCommand {
    /// It is not JSON.
    #[error("the body is not valid JSON: {0}")]
    Syntax(String),
    /// There is none.
    #[error("the body is empty: send the command as a JSON object")]
    Empty,
}

/// Why a command was not carried out. Nothing was written, but for [`CommandError::Unknown`].
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The text is no JSON.
    #[error(transparent)]
    Malformed(#[from] MalformedCommand),
    /// The values are not what the command asks for.
    #[error("the command's values are not valid")]
    Invalid(Vec<Violation>),
    /// The command asks for a pristine subject.
    #[error("{0} already exists")]
    AlreadyExists(Subject),
    /// The command asks for a subject that exists.
    #[error("{0} does not exist")]
    NotFound(Subject),
    /// The sender of the command expected another event to be the last one of its subject.
    #[error("{}", not_as_expected(subject, *latest))]
    NotAsExpected {
        /// What it is about.
        subject: Subject,
        /// The last event that it really has.
        latest: Option<EventId>,
    },
    /// Another command was carried out under the same idempotency key.
    #[error("another request was carried out under this idempotency key: use a key once only")]
    KeyReused,
    /// The handler said no.
    #[error("{0}")]
    Rejected(Box<dyn Rejection>),
    /// Others changed the subject again and again while this command was decided.
    #[error("{0} is changed by others at the moment: send the command again")]
    Contended(Subject),
    /// The connection to the event store broke and nobody can say whether the command was carried
    /// out.
    #[error("it is unknown whether the command on {subject} was carried out: {reason}")]
    Unknown {
        /// What it was about.
        subject: Subject,
        /// What broke.
        reason: String,
    },
    /// The event store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored event does not fit its declaration.
    #[error(transparent)]
    Decode(DecodeError),
    /// An event cannot be written: a mistake in its declaration.
    #[error("{0}")]
    Encode(String),
    /// The handler takes something that the application does not provide.
    #[error("the application does not provide `{0}`")]
    NotProvided(&'static str),
}

fn not_as_expected(subject: &Subject, latest: Option<EventId>) -> String {
    match latest {
        Some(latest) => format!("{subject} has changed: its last event is {latest}"),
        None => format!("{subject} does not exist"),
    }
}
