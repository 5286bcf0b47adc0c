//! The registry of declared commands and events. It is checked before the application starts.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    CommandDescriptor, Handle, ParameterOrigin, RegistryError, RejectionDescriptor, ServiceType,
    Services,
};
use es_event::{Declaration, Event, EventDescriptor, Upcast, UpcasterDescriptor, Upcasters};
use es_runtime::is_reserved_path;

/// The sorted and checked commands and events of an application.
///
/// ```
/// use es_framework::{command::Registry, prelude::*};
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
/// let registry = Registry::builder().command::<PurchaseBookCommand>().build()?;
/// assert_eq!(registry.commands().len(), 1);
/// assert!(Registry::builder().build().is_err(), "there is nothing to serve");
/// # Ok::<_, es_framework::command::RegistryError>(())
/// ```
#[derive(Debug)]
pub struct Registry {
    commands: Vec<CommandDescriptor>,
    events: Vec<EventDescriptor>,
    upcasters: Upcasters,
}

/// Collects the declarations of a [`Registry`].
///
/// ```
/// # use es_framework::{command::Registry, prelude::*};
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", condition = pristine)]
/// # struct PurchaseBookCommand { id: String }
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
/// let registry = Registry::builder()
///     .command::<PurchaseBookCommand>()
///     .event::<BookPurchasedEvent>()
///     .build()?;
/// assert_eq!(registry.commands()[0].path, "/books/purchase");
/// # Ok::<_, es_framework::command::RegistryError>(())
/// ```
#[derive(Debug, Default)]
pub struct RegistryBuilder {
    mounted: BTreeSet<String>,
    commands: Vec<CommandDescriptor>,
    events: Vec<EventDescriptor>,
    upcasters: Vec<UpcasterDescriptor>,
}

impl RegistryBuilder {
    /// Adds everything that `#[derive(Command)]`, `#[derive(Event)]` and `#[upcast]` registered.
    #[must_use]
    pub fn linked(mut self) -> Self {
        self.commands.extend(inventory::iter::<CommandDescriptor>());
        self.events.extend(inventory::iter::<EventDescriptor>());
        self.upcasters
            .extend(inventory::iter::<UpcasterDescriptor>());
        self
    }

    /// Adds a command by its type. Adding it twice has no effect.
    #[must_use]
    pub fn command<C: Handle>(mut self) -> Self {
        self.commands.push(CommandDescriptor::of::<C>());
        self
    }

    /// Adds an event by its type. Adding it twice has no effect.
    #[must_use]
    pub fn event<E: Event>(mut self) -> Self {
        self.events.push(EventDescriptor::of::<E>());
        self
    }

    /// Adds the upcaster of an event by the event's type. Adding it twice has no effect.
    #[must_use]
    pub fn upcaster<E: Upcast>(mut self) -> Self {
        self.upcasters.push(UpcasterDescriptor::of::<E>());
        self
    }

    /// Mounts a package: the registry has only the declarations of mounted packages.
    #[must_use]
    pub fn mount(mut self, package: impl Into<String>) -> Self {
        self.mounted.insert(package.into());
        self
    }

    /// Checks the collected declarations and builds the registry.
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn build(mut self) -> Result<Registry, RegistryError> {
        self.check_packages()?;
        let is_mounted =
            |of: &Declaration| self.mounted.is_empty() || self.mounted.contains(of.package);
        self.commands
            .retain(|command| is_mounted(&command.declaration));
        self.events.retain(|event| is_mounted(&event.declaration));
        self.upcasters
            .retain(|upcaster| is_mounted(&upcaster.declaration));
        self.commands
            .sort_by_key(|command| (command.path, command.declaration, command.name));
        self.events
            .sort_by_key(|event| (event.event_type, event.declaration));
        self.commands
            .dedup_by_key(|command| (command.path, command.declaration, command.name));
        self.events
            .dedup_by_key(|event| (event.event_type, event.declaration));
        if self.commands.is_empty() {
            return Err(RegistryError::Empty);
        }
        check_routes(&self.commands)?;
        check_event_types(&self.events)?;
        check_rejection_names(&self.commands)?;
        let upcasters = Upcasters::new(self.upcasters)?;
        let Self {
            commands, events, ..
        } = self;
        Ok(Registry {
            commands,
            events,
            upcasters,
        })
    }

    fn check_packages(&self) -> Result<(), RegistryError> {
        let commands = self
            .commands
            .iter()
            .map(|command| command.declaration.package);
        let events = self.events.iter().map(|event| event.declaration.package);
        let packages: BTreeSet<_> = commands.chain(events).collect();
        if self.mounted.is_empty() && packages.len() > 1 {
            let packages = packages.into_iter().collect();
            return Err(RegistryError::SeveralPackages { packages });
        }
        match self
            .mounted
            .iter()
            .find(|package| !packages.contains(package.as_str()))
        {
            None => Ok(()),
            Some(package) => Err(RegistryError::NothingInPackage {
                package: package.clone(),
            }),
        }
    }
}

/// Removes the names of the path parameters: `/books/{id}` and `/books/{isbn}` are one route.
fn shape(path: &str) -> String {
    let anonymous = |segment| {
        if str::starts_with(segment, '{') {
            "{}"
        } else {
            segment
        }
    };
    path.split('/').map(anonymous).collect::<Vec<_>>().join("/")
}

fn check_routes(commands: &[CommandDescriptor]) -> Result<(), RegistryError> {
    let mut seen = std::collections::BTreeMap::new();
    for command in commands.iter().filter(|command| !command.is_internal()) {
        let CommandDescriptor {
            name,
            path,
            declaration,
            ..
        } = *command;
        if is_reserved_path(path) {
            return Err(RegistryError::ReservedRoute {
                name,
                path,
                declaration,
            });
        }
        if let Some((first_name, first)) = seen.insert(shape(path), (name, declaration)) {
            return Err(RegistryError::DuplicateRoute {
                path,
                first_name,
                first,
                second_name: name,
                second: declaration,
            });
        }
    }
    Ok(())
}

fn check_event_types(events: &[EventDescriptor]) -> Result<(), RegistryError> {
    for (first, second) in events.iter().zip(events.iter().skip(1)) {
        if first.event_type == second.event_type {
            return Err(RegistryError::DuplicateEventType {
                event_type: first.event_type,
                first: first.declaration,
                second: second.declaration,
            });
        }
    }
    Ok(())
}

impl Registry {
    /// Returns an empty builder.
    #[must_use]
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// Returns the services that the handlers take, each with its command.
    pub fn required_services(&self) -> impl Iterator<Item = (ServiceType, &CommandDescriptor)> {
        self.commands.iter().flat_map(|command| {
            let parameters = command.parameters.iter();
            parameters.filter_map(move |parameter| match parameter.origin {
                ParameterOrigin::Service(service) => Some((service, command)),
                ParameterOrigin::State(_) | ParameterOrigin::Metadata | ParameterOrigin::Caller => {
                    None
                }
            })
        })
    }

    /// Checks that the application provides every service that a handler takes.
    ///
    /// # Errors
    /// [`RegistryError::NotProvided`].
    pub fn check_services(&self, services: &Services) -> Result<(), RegistryError> {
        match self
            .required_services()
            .find(|(service, _)| !services.provides(*service))
        {
            None => Ok(()),
            Some((service, command)) => Err(RegistryError::NotProvided {
                name: service.name,
                command: command.name,
                handler: command.handler,
            }),
        }
    }

    /// Returns the commands, sorted by path.
    #[must_use]
    pub fn commands(&self) -> &[CommandDescriptor] {
        &self.commands
    }

    /// Returns the version of the package that declares the first command: the version of the application.
    #[must_use]
    pub fn version(&self) -> &'static str {
        let first = self.commands.first();
        first.map_or("0.0.0", |first| first.declaration.version)
    }

    /// Returns the events, sorted by type.
    #[must_use]
    pub fn events(&self) -> &[EventDescriptor] {
        &self.events
    }

    /// Returns the upcasters of old events.
    #[must_use]
    pub fn upcasters(&self) -> Upcasters {
        self.upcasters.clone()
    }
}

/// Checks that every rejection name has one meaning across all commands.
fn check_rejection_names(commands: &[CommandDescriptor]) -> Result<(), RegistryError> {
    let mut known: BTreeMap<&str, &RejectionDescriptor> = BTreeMap::new();
    for rejection in commands.iter().flat_map(|command| (command.rejections)()) {
        let first = *known.entry(rejection.name).or_insert(rejection);
        if (first.kind, first.title) != (rejection.kind, rejection.title) {
            return Err(RegistryError::AmbiguousRejection {
                name: rejection.name,
                first: first.declaration,
                second: rejection.declaration,
            });
        }
    }
    Ok(())
}
