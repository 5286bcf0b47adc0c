//! What an application declared, checked before anything starts.

use std::collections::BTreeSet;

use super::{CommandDescriptor, Handle, Origin, ServiceKind, Services, rejection};
use crate::{
    Declaration,
    event::{Event, EventDescriptor, Upcast, UpcasterDescriptor, Upcasters, UpcastersError},
};

/// All commands and events that are served, sorted, without a doubt about any of them.
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

/// Gathers declarations for a [`Registry`].
#[derive(Debug, Default)]
pub struct RegistryBuilder {
    mounted: BTreeSet<String>,
    commands: Vec<CommandDescriptor>,
    events: Vec<EventDescriptor>,
    upcasters: Vec<UpcasterDescriptor>,
}

/// Why an application does not start. Each names the places at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// There is nothing to serve.
    #[error(
        "no command is declared: put #[derive(Command)] on a struct, or link the crate that holds the commands with `use the_crate as _;`"
    )]
    Empty,
    /// Two commands are posted to one path.
    #[error(
        "two commands are posted to {path}: {first_name} at {first} and {second_name} at {second}: give one of them another path with #[command(path = \"…\")]"
    )]
    DuplicateRoute {
        /// The path.
        path: &'static str,
        /// One command.
        first_name: &'static str,
        /// Where it is declared.
        first: Declaration,
        /// The other command.
        second_name: &'static str,
        /// Where that is declared.
        second: Declaration,
    },
    /// Two events have one type.
    #[error(
        "two events have the type {event_type}: at {first} and at {second}: rename one of them, or give it a name of its own with #[event(name = \"…\")]"
    )]
    DuplicateEventType {
        /// The type.
        event_type: &'static str,
        /// Where one is declared.
        first: Declaration,
        /// Where the other is declared.
        second: Declaration,
    },
    /// Two refusals share a name and mean different things.
    #[error(
        "two rejections are called {name} and differ in their sort or title: at {first} and at {second}: give one of them another name with #[rejection(name = \"…\")]"
    )]
    AmbiguousRejection {
        /// The name.
        name: &'static str,
        /// Where one is declared.
        first: Declaration,
        /// Where the other is declared.
        second: Declaration,
    },
    /// Upcasters that cannot work together.
    #[error(transparent)]
    Upcasters(#[from] UpcastersError),
    /// A command is posted where the framework itself answers.
    #[error(
        "{name} at {declaration} is posted to {path}, which the framework keeps for itself: give it another path with #[command(path = \"…\")]"
    )]
    ReservedRoute {
        /// The command.
        name: &'static str,
        /// The path.
        path: &'static str,
        /// Where it is declared.
        declaration: Declaration,
    },
    /// Several packages declare commands or events, and the application does not say which it
    /// serves.
    #[error("commands and events are declared in the packages {}: name each one that is to be served with App::mount(\"…\")", packages.join(", "))]
    SeveralPackages {
        /// The packages, in order.
        packages: Vec<&'static str>,
    },
    /// A handler takes something that nobody provides.
    #[error(
        "the handler of {command} at {handler} takes `&{name}`, which the application does not provide: write App::provide({name} {{ … }})"
    )]
    NotProvided {
        /// What it takes.
        name: &'static str,
        /// The command.
        command: &'static str,
        /// Where the handler stands.
        handler: Declaration,
    },
    /// A package that the application wants to serve declares nothing.
    #[error("App::mount(\"{package}\"): the package declares no command and no event, or is not linked: write `use {} as _;`", package.replace('-', "_"))]
    NothingInPackage {
        /// The package.
        package: String,
    },
}

/// The head of every path that the framework serves itself.
const RESERVED: [&str; 2] = ["/actuator", "/openapi.json"];

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

    /// Adds a command by its type. Adding what is there already changes nothing.
    #[must_use]
    pub fn command<C: Handle>(mut self) -> Self {
        self.commands.push(CommandDescriptor::of::<C>());
        self
    }

    /// Adds an event by its type. Adding what is there already changes nothing.
    #[must_use]
    pub fn event<E: Event>(mut self) -> Self {
        self.events.push(EventDescriptor::of::<E>());
        self
    }

    /// Adds the upcaster of an event by the event's type. Adding what is there already changes
    /// nothing.
    #[must_use]
    pub fn upcaster<E: Upcast>(mut self) -> Self {
        self.upcasters.push(UpcasterDescriptor::of::<E>());
        self
    }

    /// Serves the declarations of this package, and from now on only of packages so named.
    #[must_use]
    pub fn mount(mut self, package: impl Into<String>) -> Self {
        self.mounted.insert(package.into());
        self
    }

    /// Checks everything that was gathered.
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
        rejection::check_names(&self.commands)?;
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

/// A path with its parameters' names left out: `/books/{id}` and `/books/{isbn}` are one route.
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
        let is_reserved = |head: &&str| {
            path.strip_prefix(*head)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if RESERVED.iter().any(is_reserved) {
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
    /// Gathers declarations.
    #[must_use]
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// What the handlers take that the application has to provide, with the command of each.
    pub fn services(&self) -> impl Iterator<Item = (ServiceKind, &CommandDescriptor)> {
        self.commands.iter().flat_map(|command| {
            let parameters = command.parameters.iter();
            parameters.filter_map(move |parameter| match parameter.origin {
                Origin::Service(kind) => Some((kind, command)),
                Origin::State(_) | Origin::Metadata => None,
            })
        })
    }

    /// Checks that every handler is given what it takes.
    ///
    /// # Errors
    /// [`RegistryError::NotProvided`].
    pub fn check_services(&self, services: &Services) -> Result<(), RegistryError> {
        match self.services().find(|(kind, _)| !services.has(*kind)) {
            None => Ok(()),
            Some((kind, command)) => Err(RegistryError::NotProvided {
                name: kind.name,
                command: command.name,
                handler: command.handler,
            }),
        }
    }

    /// The commands, sorted by path.
    #[must_use]
    pub fn commands(&self) -> &[CommandDescriptor] {
        &self.commands
    }

    /// The events, sorted by type.
    #[must_use]
    pub fn events(&self) -> &[EventDescriptor] {
        &self.events
    }

    /// What turns stored events into those of today.
    #[must_use]
    pub fn upcasters(&self) -> Upcasters {
        self.upcasters.clone()
    }
}
