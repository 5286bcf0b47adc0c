//! The descriptor of a reaction.

use std::time::Duration;

use es_event::Declaration;
use es_sink::Sink;

use super::{React, ReactionStep, StartPosition};

/// The longest pause between two attempts of a reaction's task.
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);

/// The descriptor of a reaction: its declaration as plain data.
///
/// ```
/// use es_framework::{prelude::*, reaction::ReactionDescriptor};
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
/// let reminder = ReactionDescriptor::of::<LoanReminder>();
/// assert_eq!((reminder.name, reminder.attempts), ("LoanReminder", 100));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ReactionDescriptor {
    /// The reaction's name.
    pub name: &'static str,
    /// The event at which the reaction's first start begins.
    pub start: StartPosition,
    /// The number of attempts to make a call.
    pub attempts: u32,
    /// True if the commands may lead back to the events that start the reaction.
    pub repeats: bool,
    /// The steps of the reaction.
    pub steps: &'static [ReactionStep],
    /// The sink to which the steps deliver, if the reaction is one.
    pub sink: Option<&'static Sink>,
    /// The place of the reaction's declaration in the source.
    pub declaration: Declaration,
}

inventory::collect!(ReactionDescriptor);

impl ReactionDescriptor {
    /// Returns the descriptor of the reaction `R`.
    #[must_use]
    pub const fn of<R: React>() -> Self {
        Self {
            name: R::NAME,
            start: R::START,
            attempts: R::ATTEMPTS,
            repeats: R::REPEATS,
            steps: R::STEPS,
            sink: None,
            declaration: R::DECLARATION,
        }
    }

    /// Returns the longest pause between two attempts of a task.
    pub(super) const fn longest_pause(&self) -> Duration {
        match self.sink {
            None => LONGEST_PAUSE,
            Some(_) => es_sink::LONGEST_PAUSE,
        }
    }
}
