//! What must be true of a command's subject before the handler is asked.

/// What a command asks of its subject.
///
/// ```
/// use es_framework::{command::Condition, prelude::*};
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
/// assert_eq!(RemoveBookCommand::CONDITION, Condition::Exists);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    None,
    /// That nothing ever happened to it.
    Pristine,
    /// That something happened to it.
    Exists,
}
