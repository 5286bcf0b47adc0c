//! The trait of all commands.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::SubjectCondition;
use crate::validate::Validate;
use es_event::{Caller, Declaration, InvalidSubjectValue, NotOwner, OwnerRule, Subject};

/// A command: a request to change something, named in the imperative. `#[derive(Command)]`
/// implements it, together with `Clone`, because each attempt after a conflict decides on a clone.
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
pub trait Command:
    Clone + DeserializeOwned + JsonSchema + Validate + Send + Sync + 'static
{
    /// The type's name, such as `PurchaseBookCommand`.
    const NAME: &'static str;
    /// The command's summary in one sentence: the first paragraph of its doc comment.
    const SUMMARY: &'static str;
    /// The template of the command's subject, such as `/books/{id}`.
    const SUBJECT: &'static str;
    /// The path of the command's HTTP route, such as `/books/purchase`. An internal command has an empty path.
    const PATH: &'static str;
    /// The condition on the command's subject, checked before the handler decides.
    const CONDITION: SubjectCondition;
    /// The roles of which a caller needs one if authentication is on. Without roles, every caller may send it.
    const ROLES: &'static [&'static str] = &[];
    /// True if the application does not warn at its start when no token has one of the roles.
    const ROLE_WITHOUT_TOKEN: bool = false;
    /// True if everybody may send it without a credential, also if authentication is on.
    const PUBLIC: bool = false;
    /// The roles of which a caller needs one to say when something happened before. Without roles, nobody may.
    const BACKDATE_ROLES: &'static [&'static str] = &[];
    /// The rule about the owner, if there is one.
    const OWNER: Option<OwnerRule> = None;
    /// The names of the command's fields, from which `#[event(from = …)]` takes those of an event.
    const FIELDS: &'static [&'static str] = &[];
    /// The templates of the other subjects that must have an event, such as `/clubs/{club}`.
    const REQUIRED_SUBJECTS: &'static [&'static str] = &[];
    /// The place of the command's declaration in the source.
    const DECLARATION: Declaration;

    /// Returns the subject of the command.
    ///
    /// # Errors
    /// A field's value cannot stand in a subject.
    fn subject(&self) -> Result<Subject, InvalidSubjectValue>;

    /// Returns the other subjects that must have an event when the command's events are appended.
    ///
    /// # Errors
    /// A field's value cannot stand in a subject.
    fn required_subjects(&self) -> Result<Vec<Subject>, InvalidSubjectValue> {
        Ok(Vec::new())
    }

    /// Checks that the field of [`OWNER`](Self::OWNER) has the owner id of the caller.
    ///
    /// # Errors
    /// It has another one, or the caller has none.
    fn check_owner(&self, caller: &Caller) -> Result<(), NotOwner> {
        let _ = caller;
        Ok(())
    }
}
