//! The commands that an application declares.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::Condition;
use crate::validate::Validate;
use crate::{
    Declaration,
    event::{InvalidSubjectPart, Subject},
};

/// Something that is asked for, in the imperative. `#[derive(Command)]` implements it.
///
/// ```
/// use es_framework::prelude::*;
///
/// /// Adds a new copy of a book to the inventory.
/// #[derive(Command)]
/// #[command(subject = "/books/{id}", condition = pristine)]
/// struct PurchaseBookCommand {
///     id: String,
/// }
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
///
/// assert_eq!(PurchaseBookCommand::NAME, "PurchaseBookCommand");
/// assert_eq!(PurchaseBookCommand::SUMMARY, "Adds a new copy of a book to the inventory.");
/// let command = PurchaseBookCommand { id: "42".into() };
/// assert_eq!(command.subject()?.as_str(), "/books/42");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a command",
    label = "this is no command",
    note = "put `#[derive(Command)]` and `#[command(subject = \"/…/{{id}}\")]` on the struct `{Self}`"
)]
pub trait Command: DeserializeOwned + JsonSchema + Validate + Send + 'static {
    /// The type's name, such as `PurchaseBookCommand`.
    const NAME: &'static str;
    /// What it does, in a sentence: the first line of its doc comment.
    const SUMMARY: &'static str;
    /// The template of its subject, such as `/books/{id}`.
    const SUBJECT: &'static str;
    /// The path that it is posted to, such as `/books/purchase`; empty if nobody posts it.
    const PATH: &'static str;
    /// What must be true of the subject before the handler is asked.
    const CONDITION: Condition;
    /// What a caller has to be, where callers are known. Without it, any caller may ask for it.
    const ROLE: Option<&'static str> = None;
    /// Where it is declared.
    const DECLARATION: Declaration;

    /// What the command is about.
    ///
    /// # Errors
    /// A field's value cannot stand in a subject.
    fn subject(&self) -> Result<Subject, InvalidSubjectPart>;
}
