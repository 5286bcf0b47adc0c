//! The reactions of an application. They are checked before the application starts.

use super::ReactionDescriptor;
use es_event::{DuplicateDeclaration, NamedKind, sort_by_unique_name};

/// The sorted and checked reactions of an application.
///
/// ```
/// use es_framework::{prelude::*, reaction::{ReactionDescriptor, Reactions}};
/// # #[derive(Event)]
/// # struct BookBorrowedEvent { id: Uuid }
/// # #[derive(Event)]
/// # struct ReaderRemindedEvent {}
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", internal)]
/// # struct RemindReaderCommand { id: Uuid }
/// # #[handler]
/// # fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent { ReaderRemindedEvent {} }
/// # struct LoanReminder;
/// # #[reaction]
/// # impl LoanReminder {
/// #     fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
/// #         RemindReaderCommand { id: event.id }
/// #     }
/// # }
/// let reactions = Reactions::new([ReactionDescriptor::of::<LoanReminder>()])?;
/// assert_eq!(reactions.iter().count(), 1);
/// # Ok::<_, es_framework::event::DuplicateDeclaration>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Reactions(Vec<ReactionDescriptor>);

impl Reactions {
    /// Sorts and checks declared reactions.
    ///
    /// # Errors
    /// Two of them have one name.
    pub fn new(
        declared: impl IntoIterator<Item = ReactionDescriptor>,
    ) -> Result<Self, DuplicateDeclaration> {
        let name = |reaction: &ReactionDescriptor| (reaction.name, reaction.declaration);
        sort_by_unique_name(NamedKind::Reaction, declared, name).map(Self)
    }

    /// Returns the reactions, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &ReactionDescriptor> {
        self.0.iter()
    }
}
