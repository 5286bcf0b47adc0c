//! The errors of the command pipeline and of the registry.

use std::borrow::Cow;

use super::{Rejection, Violation};
use es_event::{
    Declaration, DecodeError, EventId, InvalidSubjectValue, NotOwner, Subject, UnreadableValue,
    UpcastersError,
};
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
    /// The handler reads a parameter that [`Handle::PARAMETERS`](super::Handle::PARAMETERS) does not
    /// describe.
    #[error("parameter {0} of the handler was not described to the framework, or otherwise")]
    Parameter(usize),
}

/// The reason why a registry cannot be built. An error about declarations names their places in
/// the source.
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
    /// No command is declared.
    #[error(
        "no command is declared: put #[derive(Command)] on a struct, or link the crate that holds the commands with `use the_crate as _;`"
    )]
    Empty,
    /// Two commands have the same path.
    #[error(
        "two commands are posted to {path}: {first_name} at {first} and {second_name} at {second}: give one of them another path with #[command(path = \"…\")]"
    )]
    DuplicateRoute {
        /// The path.
        path: &'static str,
        /// One of the commands.
        first_name: &'static str,
        /// The place of the declaration.
        first: Declaration,
        /// The other command.
        second_name: &'static str,
        /// The place of the second declaration.
        second: Declaration,
    },
    /// Two events have one type.
    #[error(
        "two events have the type {event_type}: at {first} and at {second}: rename one of them, or give it a name of its own with #[event(name = \"…\")]"
    )]
    DuplicateEventType {
        /// The type.
        event_type: &'static str,
        /// The place of the first declaration.
        first: Declaration,
        /// The place of the second declaration.
        second: Declaration,
    },
    /// Two different rejections have the same name.
    #[error(
        "two rejections are called {name} and differ in their sort or title: at {first} and at {second}: give one of them another name with #[rejection(name = \"…\")]"
    )]
    AmbiguousRejection {
        /// The name.
        name: &'static str,
        /// The place of the first declaration.
        first: Declaration,
        /// The place of the second declaration.
        second: Declaration,
    },
    /// The upcasters contradict each other.
    #[error(transparent)]
    Upcasters(#[from] UpcastersError),
    /// The path of a command belongs to the framework.
    #[error(
        "{name} at {declaration} is posted to {path}, which the framework keeps for itself: give it another path with #[command(path = \"…\")]"
    )]
    ReservedRoute {
        /// The command.
        name: &'static str,
        /// The path.
        path: &'static str,
        /// The place of the declaration.
        declaration: Declaration,
    },
    /// Several packages declare commands or events, so the application has to name those that it
    /// mounts.
    #[error("commands and events are declared in the packages {}: name each one that is to be served with App::mount(\"…\")", packages.join(", "))]
    SeveralPackages {
        /// The packages, in order.
        packages: Vec<&'static str>,
    },
    /// The application does not provide a service that a handler takes.
    #[error(
        "the handler of {command} at {handler} takes `&{name}`, which the application does not provide: write App::provide({name} {{ … }})"
    )]
    NotProvided {
        /// The type of the service.
        name: &'static str,
        /// The command.
        command: &'static str,
        /// The place of the handler.
        handler: Declaration,
    },
    /// The application mounts a package that declares nothing.
    #[error("App::mount(\"{package}\"): the package declares no command and no event, or is not linked: write `use {} as _;`", package.replace('-', "_"))]
    NothingInPackage {
        /// The package.
        package: String,
    },
}
