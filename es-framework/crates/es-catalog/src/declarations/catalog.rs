//! The checked declarations of an application.

use es_command::{
    command::{CommandDescriptor, ParameterOrigin, ServiceType, Services},
    publication::{PublicEventDescriptor, Publications},
    reaction::{ReactionDescriptor, Reactions},
    settings::SettingsDescriptor,
};
use es_event::{EventDescriptor, Upcasters};
use es_read::{
    projection::ReadModels,
    query::{QueryDescriptor, QueryRoute, QueryRouteTarget},
};

use super::{
    catalog_error::CatalogError,
    connections::Connections,
    event_subjects::EventSubjects,
    state_parameter::{StateParameter, states_of},
};

/// The declarations of an application, sorted and checked against each other.
///
/// ```
/// use es_framework::{catalog::Catalog, prelude::*};
///
/// #[derive(Command)]
/// #[command(subject = "/books/{id}")]
/// struct PurchaseBookCommand {
///     id: String,
/// }
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
///
/// let catalog = Catalog::builder().command::<PurchaseBookCommand>().build()?;
/// assert_eq!(catalog.commands().len(), 1);
/// assert!(Catalog::builder().build().is_err(), "there is nothing to serve");
/// # Ok::<_, es_framework::catalog::CatalogError>(())
/// ```
#[derive(Debug)]
pub struct Catalog {
    pub(crate) commands: Vec<CommandDescriptor>,
    pub(crate) events: Vec<EventDescriptor>,
    pub(crate) upcasters: Upcasters,
    pub(crate) models: ReadModels,
    pub(crate) queries: Vec<QueryRoute>,
    pub(crate) reactions: Reactions,
    pub(crate) publications: Publications,
    pub(crate) public_events: Vec<PublicEventDescriptor>,
    pub(crate) settings: Vec<SettingsDescriptor>,
    pub(crate) connections: Connections,
    pub(crate) subjects: EventSubjects,
}

/// A declaration whose code takes a service.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum ServiceUser<'a> {
    /// The handler of a command.
    Handler(&'a CommandDescriptor),
    /// A call of a reaction.
    Reaction(&'a ReactionDescriptor),
    /// The handler of a query.
    Query(&'a QueryDescriptor),
}

impl Catalog {
    /// Returns the commands, sorted by path.
    #[must_use]
    pub fn commands(&self) -> &[CommandDescriptor] {
        &self.commands
    }

    /// Returns the events, sorted by type.
    #[must_use]
    pub fn events(&self) -> &[EventDescriptor] {
        &self.events
    }

    /// Returns the upcasters of old events.
    #[must_use]
    pub fn upcasters(&self) -> &Upcasters {
        &self.upcasters
    }

    /// Returns the read models, with the indexes that the queries need.
    #[must_use]
    pub fn read_models(&self) -> &ReadModels {
        &self.models
    }

    /// Returns the routes of the queries, and of the read models whose rows are events.
    #[must_use]
    pub fn queries(&self) -> &[QueryRoute] {
        &self.queries
    }

    /// Returns the publications, sorted by name.
    #[must_use]
    pub const fn publications(&self) -> &Publications {
        &self.publications
    }

    /// Returns the public events, sorted by type.
    #[must_use]
    pub fn public_events(&self) -> &[PublicEventDescriptor] {
        &self.public_events
    }

    /// Returns the reactions, sorted by name.
    #[must_use]
    pub fn reactions(&self) -> &Reactions {
        &self.reactions
    }

    /// Returns the version of the package that declares the first command: the version of the application.
    #[must_use]
    pub fn version(&self) -> &'static str {
        let first = self.commands.first();
        first.map_or("0.0.0", |first| first.declaration.version)
    }

    /// Returns the states that handlers take.
    #[doc(hidden)]
    pub fn states(&self) -> impl Iterator<Item = StateParameter<'_>> {
        states_of(&self.commands)
    }

    /// Returns the services that handlers, reactions and queries take.
    #[doc(hidden)]
    pub fn required_services(&self) -> impl Iterator<Item = (ServiceType, ServiceUser<'_>)> {
        let by_handlers = self.commands.iter().flat_map(|command| {
            let parameters = (command.parameters)().into_iter();
            parameters.map(move |parameter| (parameter, ServiceUser::Handler(command)))
        });
        let by_reactions = self.reactions.iter().flat_map(|reaction| {
            let parameters = reaction.steps.iter().flat_map(|step| step.parameters);
            parameters.map(move |parameter| (*parameter, ServiceUser::Reaction(reaction)))
        });
        let queries = self.queries.iter().filter_map(|route| match &route.target {
            QueryRouteTarget::Query(query) => Some(query),
            QueryRouteTarget::BrowseEvents(_) | QueryRouteTarget::FindEvent(_) => None,
        });
        let by_queries = queries.flat_map(|query| {
            let services = query.services.iter();
            services.map(move |service| (*service, ServiceUser::Query(query)))
        });
        let parameters = by_handlers.chain(by_reactions);
        let services = parameters.filter_map(|(parameter, user)| match parameter.origin {
            ParameterOrigin::Service(service) => Some((service, user)),
            ParameterOrigin::State(_) | ParameterOrigin::Metadata | ParameterOrigin::Caller => None,
        });
        services.chain(by_queries)
    }

    /// Checks that the application provides every service that a handler, a reaction or a query takes.
    ///
    /// # Errors
    /// A service is missing.
    #[doc(hidden)]
    pub fn check_services(&self, services: &Services) -> Result<(), CatalogError> {
        let mut required = self.required_services();
        let missing = required.find(|(service, _)| !services.provides(*service));
        missing.map_or(Ok(()), |(ServiceType { name, .. }, user)| {
            Err(match user {
                ServiceUser::Handler(command) => CatalogError::NotProvidedToHandler {
                    name,
                    command: command.name,
                    handler: command.handler,
                },
                ServiceUser::Reaction(reaction) => CatalogError::NotProvidedToReaction {
                    name,
                    reaction: reaction.name,
                    declaration: reaction.declaration,
                },
                ServiceUser::Query(query) => CatalogError::NotProvidedToQuery {
                    name,
                    query: query.name,
                    declaration: query.declaration,
                },
            })
        })
    }

    pub(crate) fn find_event(&self, event_type: &str) -> Option<&EventDescriptor> {
        self.events.iter().find(|one| one.event_type == event_type)
    }
}
