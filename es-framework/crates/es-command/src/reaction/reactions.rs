//! The reactions of an application. They are checked before the application starts.

use super::ReactionDescriptor;
use crate::command::{ParameterOrigin, ServiceType, Services};
use es_event::Declaration;

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
/// # Ok::<_, es_framework::reaction::ReactionsError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Reactions(Vec<ReactionDescriptor>);

/// The reason why the reactions of an application cannot run.
///
/// ```
/// use es_framework::{
///     command::Services,
///     prelude::*,
///     reaction::{ReactionDescriptor, Reactions, ReactionsError},
/// };
/// # #[derive(Event)]
/// # struct BookBorrowedEvent {}
///
/// #[derive(Service)]
/// struct Mailer {}
///
/// struct Receipts;
///
/// #[reaction]
/// impl Receipts {
///     async fn send(_: &BookBorrowedEvent, _: &Mailer) -> Result<(), std::io::Error> {
///         Ok(())
///     }
/// }
///
/// let reactions = Reactions::new([ReactionDescriptor::of::<Receipts>()])?;
/// let without_mailer = reactions.check_services(&Services::default());
/// assert!(matches!(without_mailer, Err(ReactionsError::NotProvided { name: "Mailer", .. })));
/// # Ok::<_, ReactionsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReactionsError {
    /// Two reactions have one name.
    #[error(
        "two reactions are named {name}: at {first} and at {second}: rename one of them, or write #[reaction(name = \"…\")]"
    )]
    DuplicateName {
        /// The name.
        name: &'static str,
        /// The place of the first declaration.
        first: Declaration,
        /// The place of the second declaration.
        second: Declaration,
    },
    /// The application does not provide a service that a call takes.
    #[error(
        "the reaction {reaction} at {declaration} takes `&{name}`, which the application does not provide: write `.provide({name} {{ … }})` in front of `.run()`"
    )]
    NotProvided {
        /// The type's name.
        name: &'static str,
        /// The reaction's name.
        reaction: &'static str,
        /// The place of the declaration.
        declaration: Declaration,
    },
}

impl Reactions {
    /// Sorts and checks declared reactions.
    ///
    /// # Errors
    /// Two of them have one name.
    pub fn new(
        declared: impl IntoIterator<Item = ReactionDescriptor>,
    ) -> Result<Self, ReactionsError> {
        let mut reactions: Vec<_> = declared.into_iter().collect();
        reactions.sort_by_key(|reaction| (reaction.name, reaction.declaration));
        reactions.dedup_by_key(|reaction| (reaction.name, reaction.declaration));
        for (first, second) in reactions.iter().zip(reactions.iter().skip(1)) {
            if first.name == second.name {
                return Err(ReactionsError::DuplicateName {
                    name: first.name,
                    first: first.declaration,
                    second: second.declaration,
                });
            }
        }
        Ok(Self(reactions))
    }

    /// Returns the reactions, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &ReactionDescriptor> {
        self.0.iter()
    }

    /// Returns the services that the calls take, each with its reaction.
    pub fn required_services(&self) -> impl Iterator<Item = (ServiceType, &ReactionDescriptor)> {
        self.iter().flat_map(|reaction| {
            let parameters = reaction.steps.iter().flat_map(|step| step.parameters);
            parameters.filter_map(move |parameter| match parameter.origin {
                ParameterOrigin::Service(service) => Some((service, reaction)),
                ParameterOrigin::State(_) | ParameterOrigin::Metadata | ParameterOrigin::Caller => {
                    None
                }
            })
        })
    }

    /// Checks that the application provides every service that a call takes.
    ///
    /// # Errors
    /// [`ReactionsError::NotProvided`].
    pub fn check_services(&self, services: &Services) -> Result<(), ReactionsError> {
        match self
            .required_services()
            .find(|(service, _)| !services.provides(*service))
        {
            None => Ok(()),
            Some((service, reaction)) => Err(ReactionsError::NotProvided {
                name: service.name,
                reaction: reaction.name,
                declaration: reaction.declaration,
            }),
        }
    }
}
