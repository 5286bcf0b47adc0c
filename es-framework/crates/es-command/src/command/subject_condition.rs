//! The condition of a command on its subject, checked before the handler decides.

/// The condition of a command on its subject.
///
/// ```
/// use es_framework::{command::SubjectCondition, prelude::*};
///
/// #[derive(Command)]
/// #[command(subject = "/books/{id}", condition = exists)]
/// struct RemoveBookCommand {
///     id: String,
/// }
/// # #[derive(Event)]
/// # struct BookRemovedEvent {}
/// # #[handler]
/// # fn remove(_: RemoveBookCommand) -> BookRemovedEvent { BookRemovedEvent {} }
///
/// assert_eq!(RemoveBookCommand::CONDITION, SubjectCondition::Exists);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectCondition {
    /// No condition.
    None,
    /// The subject has no events.
    Pristine,
    /// The subject has at least one event.
    Exists,
}
