//! The commands that a reaction sends, and the values that a step takes which calls another system: its services
//! and its key.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::{ReactionError, ReactionKey};
use crate::command::{
    CommandDescriptor, CommandResources, Handle, InjectIntoCall, PastEnd, Services,
};
use es_event::RecordedEvent;

/// The commands that a step sends.
///
/// ```
/// use es_framework::{prelude::*, reaction::OutgoingCommands};
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
/// let mut commands = OutgoingCommands::default();
/// commands.push(&RemindReaderCommand { id: Uuid::nil() })?;
/// # Ok::<_, es_framework::reaction::ReactionError>(())
/// ```
#[derive(Debug, Default)]
pub struct OutgoingCommands(pub(super) Vec<OutgoingCommand>);

/// A command that a reaction sends, as JSON. It enters the command pipeline like the request of a client, and repetitions
/// have the same body.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct OutgoingCommand {
    /// The command's description.
    pub command: CommandDescriptor,
    /// The command's body as JSON.
    pub body: Vec<u8>,
}

impl OutgoingCommands {
    /// Adds a command, which is sent after those that were added before.
    ///
    /// # Errors
    /// The command cannot be written as JSON.
    pub fn push<C: Handle + Serialize>(&mut self, command: &C) -> Result<(), ReactionError> {
        let body = serde_json::to_vec(command)?;
        let command = CommandDescriptor::of::<C>();
        self.0.push(OutgoingCommand { command, body });
        Ok(())
    }
}

impl OutgoingCommands {
    /// Returns the commands in the order in which they are sent.
    pub fn iter(&self) -> impl Iterator<Item = &OutgoingCommand> {
        self.0.iter()
    }
}

/// A type that a function of a reaction may return: a command, several as a tuple or a `Vec`, or an
/// optional one as an `Option`.
///
/// ```
/// use es_framework::{prelude::*, reaction::{OutgoingCommands, IntoCommands}};
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
/// let mut commands = OutgoingCommands::default();
/// let remind = |id| RemindReaderCommand { id };
/// vec![remind(Uuid::nil()), remind(Uuid::max())].add_to(&mut commands)?;
/// None::<RemindReaderCommand>.add_to(&mut commands)?; // nothing follows
/// # Ok::<_, es_framework::reaction::ReactionError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not follow from an event",
    label = "this is no command",
    note = "a function of a `#[reaction]` returns a command (`#[derive(Command)]` and a `#[handler]`), an `Option`, a `Vec` or a tuple of commands; one that calls another system is `async` and returns a `Result<(), …>`"
)]
pub trait IntoCommands {
    /// Adds the commands in order.
    ///
    /// # Errors
    /// A command cannot be written as JSON.
    fn add_to(self, commands: &mut OutgoingCommands) -> Result<(), ReactionError>;

    /// Returns the commands that it may add.
    fn commands() -> Vec<CommandDescriptor> {
        Vec::new()
    }
}

impl<C: Handle + Serialize> IntoCommands for C {
    fn add_to(self, commands: &mut OutgoingCommands) -> Result<(), ReactionError> {
        commands.push(&self)
    }

    fn commands() -> Vec<CommandDescriptor> {
        vec![CommandDescriptor::of::<C>()]
    }
}

impl<T: IntoCommands> IntoCommands for Option<T> {
    fn add_to(self, commands: &mut OutgoingCommands) -> Result<(), ReactionError> {
        self.map_or(Ok(()), |command| command.add_to(commands))
    }

    fn commands() -> Vec<CommandDescriptor> {
        T::commands()
    }
}

impl<T: IntoCommands> IntoCommands for Vec<T> {
    fn add_to(self, commands: &mut OutgoingCommands) -> Result<(), ReactionError> {
        self.into_iter()
            .try_for_each(|command| command.add_to(commands))
    }

    fn commands() -> Vec<CommandDescriptor> {
        T::commands()
    }
}

macro_rules! tuples {
    ($($name:ident),*) => {
        impl<$($name: IntoCommands),*> IntoCommands for ($($name,)*) {
            #[allow(non_snake_case, unused_variables)]
            fn add_to(self, commands: &mut OutgoingCommands) -> Result<(), ReactionError> {
                let ($($name,)*) = self;
                $($name.add_to(commands)?;)*
                Ok(())
            }

            #[allow(unused_mut)]
            fn commands() -> Vec<CommandDescriptor> {
                let mut commands = Vec::new();
                $(commands.extend($name::commands());)*
                commands
            }
        }
    };
}

tuples!();
tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);

/// The context of a step: its services, its time and its key.
///
/// ```
/// use es_framework::{prelude::*, reaction::{ReactionContext, ReactionError}};
///
/// /// The code that `#[reaction]` writes for a parameter `clock: &Clock`.
/// fn time(context: &ReactionContext<'_>) -> Result<Timestamp, ReactionError> {
///     Ok(context.service::<Clock>("Clock")?.now())
/// }
/// ```
#[derive(Debug)]
pub struct ReactionContext<'a> {
    pub(super) services: &'a Services,
    pub(super) key: ReactionKey,
    pub(super) time: Timestamp,
    pub(super) resources: &'a CommandResources,
    /// The end of the events that lead to the states: the event of the step, or its scheduled time.
    pub(super) states_end: PastEnd,
}

impl<'a> ReactionContext<'a> {
    /// Creates the context of a publication, whose states follow from the events of `resources` up to this one.
    #[doc(hidden)]
    #[must_use]
    pub fn of_publication(
        name: &'static str,
        event: &RecordedEvent,
        resources: &'a CommandResources,
    ) -> Self {
        Self {
            services: resources.services(),
            key: ReactionKey::for_call((name, name), 0, event, None),
            time: event.time.timestamp().unwrap_or_default(),
            resources,
            states_end: PastEnd::Event(Some(event.id)),
        }
    }
}

impl ReactionContext<'_> {
    /// Returns the service of this type.
    ///
    /// # Errors
    /// The application does not provide a service of this type.
    pub fn service<T: InjectIntoCall>(&self, name: &'static str) -> Result<Arc<T>, ReactionError> {
        let provided = self.services.get();
        provided.ok_or(ReactionError::NotProvided(name))
    }

    /// Returns the time at which the step is due: the time of its deadline or schedule. An immediate step is due
    /// when its event was recorded.
    #[must_use]
    pub const fn time(&self) -> Timestamp {
        self.time
    }

    /// Returns the idempotency key of the call.
    #[must_use]
    pub fn key(&self) -> ReactionKey {
        self.key.clone()
    }
}
