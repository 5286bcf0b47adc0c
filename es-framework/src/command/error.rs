//! Why a command was not decided on or carried out, and why commands cannot be served.

use std::borrow::Cow;

use super::{Rejection, Violation};
use crate::{
    Declaration,
    event::{DecodeError, EventId, InvalidSubjectPart, Subject, UpcastersError},
    store::StoreError,
};

/// A text that is no command at all.
///
/// ```
/// use es_framework::command::{CommandError, MalformedCommand};
///
/// let error = CommandError::from(MalformedCommand::Empty);
/// assert_eq!(error.to_string(), "the body is empty: send the command as a JSON object");
/// ```
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
///
/// ```
/// use es_framework::command::CommandError;
///
/// /// Whether to send the command again, unchanged and under another idempotency key.
/// fn try_again(error: &CommandError) -> bool {
///     match error {
///         CommandError::Contended(_) => true,
///         CommandError::Store(error) => error.is_transient(),
///         _ => false, // `Unknown` may have been carried out: send it under the same key
///     }
/// }
///
/// assert!(try_again(&CommandError::Contended("/books/42".parse()?)));
/// # Ok::<_, es_framework::event::InvalidSubject>(())
/// ```
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

/// Why a handler gave no decision.
///
/// ```
/// use es_framework::{command::{Decided, HandlerError, IntoDecision}, prelude::*};
///
/// /// The copy is lent
/// #[derive(Debug, Rejection)]
/// #[rejection(conflict)]
/// struct CopyIsLent;
///
/// let mut decided = Decided::on("/books/42".parse()?, Metadata::default());
/// let error = Err::<(), _>(CopyIsLent).decide(&mut decided).unwrap_err();
/// assert!(matches!(error, HandlerError::Rejected(rejection) if rejection.name() == "copy-is-lent"));
/// # Ok::<_, es_framework::event::InvalidSubject>(())
/// ```
#[derive(Debug, thiserror::Error)]
pub enum HandlerError {
    /// The domain says no.
    #[error("{0}")]
    Rejected(Box<dyn Rejection>),
    /// An event, or the reply, cannot be written as JSON.
    #[error("{what} cannot be written as JSON: {reason}")]
    Encode {
        /// The event's type, or the reply.
        what: Cow<'static, str>,
        /// What stands against it.
        reason: serde_json::Error,
    },
    /// A field of an event cannot stand in the event's subject.
    #[error("an event of type {event_type} has no subject: its {}: {part}", part.field)]
    Subject {
        /// The event's type.
        event_type: &'static str,
        /// The field.
        part: InvalidSubjectPart,
    },
    /// The handler asks for a parameter that its description does not have.
    #[error("parameter {0} of the handler was not described to the framework, or otherwise")]
    Parameter(usize),
}

/// Why an application does not start. Each names the places at fault.
///
/// ```
/// use es_framework::command::{Registry, RegistryError};
///
/// let error = Registry::builder().mount("books").build().unwrap_err();
/// assert_eq!(error, RegistryError::NothingInPackage { package: "books".into() });
/// assert!(error.to_string().ends_with("write `use books as _;`"), "{error}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// There is nothing to serve.
    #[error(
        "no command is declared: put #[derive(Command)] on a struct, or link the crate that holds the commands with `use the_crate as _;`"
    )]
    Empty,
    /// Two commands are posted to one path.
    #[error(
        "two commands are posted to {path}: {first_name} at {first} and {second_name} at {second}: give one of them another path with #[command(path = \"…\")]"
    )]
    DuplicateRoute {
        /// The path.
        path: &'static str,
        /// One command.
        first_name: &'static str,
        /// Where it is declared.
        first: Declaration,
        /// The other command.
        second_name: &'static str,
        /// Where that is declared.
        second: Declaration,
    },
    /// Two events have one type.
    #[error(
        "two events have the type {event_type}: at {first} and at {second}: rename one of them, or give it a name of its own with #[event(name = \"…\")]"
    )]
    DuplicateEventType {
        /// The type.
        event_type: &'static str,
        /// Where one is declared.
        first: Declaration,
        /// Where the other is declared.
        second: Declaration,
    },
    /// Two refusals share a name and mean different things.
    #[error(
        "two rejections are called {name} and differ in their sort or title: at {first} and at {second}: give one of them another name with #[rejection(name = \"…\")]"
    )]
    AmbiguousRejection {
        /// The name.
        name: &'static str,
        /// Where one is declared.
        first: Declaration,
        /// Where the other is declared.
        second: Declaration,
    },
    /// Upcasters that cannot work together.
    #[error(transparent)]
    Upcasters(#[from] UpcastersError),
    /// A command is posted where the framework itself answers.
    #[error(
        "{name} at {declaration} is posted to {path}, which the framework keeps for itself: give it another path with #[command(path = \"…\")]"
    )]
    ReservedRoute {
        /// The command.
        name: &'static str,
        /// The path.
        path: &'static str,
        /// Where it is declared.
        declaration: Declaration,
    },
    /// Several packages declare commands or events, and the application does not say which it
    /// serves.
    #[error("commands and events are declared in the packages {}: name each one that is to be served with App::mount(\"…\")", packages.join(", "))]
    SeveralPackages {
        /// The packages, in order.
        packages: Vec<&'static str>,
    },
    /// A handler takes something that nobody provides.
    #[error(
        "the handler of {command} at {handler} takes `&{name}`, which the application does not provide: write App::provide({name} {{ … }})"
    )]
    NotProvided {
        /// What it takes.
        name: &'static str,
        /// The command.
        command: &'static str,
        /// Where the handler stands.
        handler: Declaration,
    },
    /// A package that the application wants to serve declares nothing.
    #[error("App::mount(\"{package}\"): the package declares no command and no event, or is not linked: write `use {} as _;`", package.replace('-', "_"))]
    NothingInPackage {
        /// The package.
        package: String,
    },
}
