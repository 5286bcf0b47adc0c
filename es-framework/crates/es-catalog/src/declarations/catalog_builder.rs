//! Collects declarations, and checks that they fit together.

use std::collections::{BTreeMap, BTreeSet};

use es_command::{
    command::{CommandDescriptor, Handle, RejectionDescriptor},
    publication::{PublicEventDescriptor, PublicationDescriptor, Publications},
    reaction::{React, ReactionDescriptor, Reactions},
    settings::SettingsDescriptor,
};
use es_event::{
    Declaration, Event, EventDescriptor, NamedKind, Upcast, UpcasterDescriptor, Upcasters,
    check_unique, sort_by_unique_name, sort_declarations,
};
use es_read::{
    projection::{Project, ReadModelDescriptor, ReadModels},
    query::{QueryDescriptor, QueryHandler},
};

use super::{
    catalog::Catalog, catalog_error::CatalogError, connections::Connections,
    contradictions::find_contradiction, event_subjects::EventSubjects, query_routes::query_routes,
    reserved_path::is_reserved_path, unique_rules::check_unique_rules,
};

/// Collects the declarations of a [`Catalog`].
///
/// ```
/// # use es_framework::{catalog::Catalog, prelude::*};
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", condition = pristine)]
/// # struct PurchaseBookCommand { id: String }
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
/// let catalog = Catalog::builder()
///     .command::<PurchaseBookCommand>()
///     .event::<BookPurchasedEvent>()
///     .build()?;
/// assert_eq!(catalog.commands()[0].path, "/books/purchase");
/// # Ok::<_, es_framework::catalog::CatalogError>(())
/// ```
#[derive(Debug, Default)]
pub struct CatalogBuilder {
    mounted: BTreeSet<String>,
    commands: Vec<CommandDescriptor>,
    events: Vec<EventDescriptor>,
    upcasters: Vec<UpcasterDescriptor>,
    read_models: Vec<ReadModelDescriptor>,
    queries: Vec<QueryDescriptor>,
    reactions: Vec<ReactionDescriptor>,
    publications: Vec<PublicationDescriptor>,
    public_events: Vec<PublicEventDescriptor>,
    settings: Vec<SettingsDescriptor>,
}

impl Catalog {
    /// Returns a builder without declarations.
    #[must_use]
    pub fn builder() -> CatalogBuilder {
        CatalogBuilder::default()
    }
}

impl CatalogBuilder {
    /// Adds all declarations that the macros registered.
    #[must_use]
    pub fn linked(mut self) -> Self {
        self.commands.extend(inventory::iter::<CommandDescriptor>());
        self.events.extend(inventory::iter::<EventDescriptor>());
        let upcasters = inventory::iter::<UpcasterDescriptor>();
        self.upcasters.extend(upcasters);
        let read_models = inventory::iter::<ReadModelDescriptor>();
        self.read_models.extend(read_models);
        self.queries.extend(inventory::iter::<QueryDescriptor>());
        let reactions = inventory::iter::<ReactionDescriptor>();
        self.reactions.extend(reactions);
        let publications = inventory::iter::<PublicationDescriptor>();
        self.publications.extend(publications);
        let public_events = inventory::iter::<PublicEventDescriptor>();
        self.public_events.extend(public_events);
        self.settings
            .extend(inventory::iter::<SettingsDescriptor>());
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

    /// Adds a read model by its type. Adding it twice has no effect.
    #[must_use]
    pub fn read_model<R: Project>(self) -> Self {
        self.read_models([ReadModelDescriptor::of::<R>()])
    }

    /// Adds read models by their descriptors.
    #[must_use]
    pub fn read_models(mut self, models: impl IntoIterator<Item = ReadModelDescriptor>) -> Self {
        self.read_models.extend(models);
        self
    }

    /// Adds queries by their descriptors.
    #[doc(hidden)]
    #[must_use]
    pub fn queries(mut self, queries: impl IntoIterator<Item = QueryDescriptor>) -> Self {
        self.queries.extend(queries);
        self
    }

    /// Adds a query by its type. Adding it twice has no effect.
    #[must_use]
    pub fn query<Q: QueryHandler>(mut self) -> Self {
        self.queries.push(QueryDescriptor::of::<Q>());
        self
    }

    /// Adds a reaction by its type. Adding it twice has no effect.
    #[must_use]
    pub fn reaction<R: React>(mut self) -> Self {
        self.reactions.push(ReactionDescriptor::of::<R>());
        self
    }

    /// Adds publications and their public events by their descriptors.
    #[doc(hidden)]
    #[must_use]
    pub fn publications(
        mut self,
        publications: impl IntoIterator<Item = PublicationDescriptor>,
        public_events: impl IntoIterator<Item = PublicEventDescriptor>,
    ) -> Self {
        self.publications.extend(publications);
        self.public_events.extend(public_events);
        self
    }

    /// Mounts a package: the catalog has only the declarations of mounted packages.
    #[must_use]
    pub fn mount(mut self, package: impl Into<String>) -> Self {
        self.mounted.insert(package.into());
        self
    }

    /// Sorts the collected declarations, and checks that they fit together.
    ///
    /// # Errors
    /// See [`CatalogError`].
    pub fn build(mut self) -> Result<Catalog, CatalogError> {
        self.retain_mounted_packages()?;
        let commands =
            sort_declarations(self.commands, |one| (one.path, one.declaration, one.name));
        if commands.is_empty() {
            return Err(CatalogError::Empty);
        }
        check_commands(&commands)?;
        let name = |event: &EventDescriptor| (event.event_type, event.declaration);
        let events = sort_by_unique_name(NamedKind::Event, self.events, name)?;
        check_unique_rules(&events)?;
        check_rejection_names(&commands)?;
        let upcasters = Upcasters::new(self.upcasters)?;
        let declared = ReadModels::new(self.read_models)?;
        let queries = sort_declarations(self.queries, |one| (one.path, one.declaration, one.name));
        for query in &queries {
            check_query(query, &declared)?;
        }
        let models = declared.with_indexes_of(&queries);
        let routes = query_routes(&queries, &models);
        let paths = routes
            .iter()
            .map(|one| (one.path.as_str(), "", one.declaration));
        check_unique(NamedKind::Query, paths)?;
        let reactions = Reactions::new(self.reactions)?;
        let publications = Publications::new(self.publications)?;
        let name = |event: &PublicEventDescriptor| (event.event_type, event.declaration);
        let public_events = sort_by_unique_name(NamedKind::PublicEvent, self.public_events, name)?;
        let connections = Connections::between(&commands, &upcasters, &models, &routes, &reactions)
            .with_publications(&publications);
        let catalog = Catalog {
            connections,
            subjects: EventSubjects::new(&commands, &events, &upcasters),
            commands,
            events,
            upcasters,
            models,
            queries: routes,
            reactions,
            publications,
            public_events,
            settings: sort_declarations(self.settings, |one| (one.declaration, one.service.name)),
        };
        match find_contradiction(&catalog) {
            None => Ok(catalog),
            Some(contradiction) => Err(CatalogError::Contradiction(contradiction)),
        }
    }

    /// Removes the declarations of packages that are not served. A package is served if it declares commands or
    /// events and is mounted, or if it is the only one.
    fn retain_mounted_packages(&mut self) -> Result<(), CatalogError> {
        let commands = self.commands.iter().map(|one| one.declaration.package);
        let events = self.events.iter().map(|one| one.declaration.package);
        let packages: BTreeSet<_> = commands.chain(events).collect();
        let mounted = &self.mounted;
        if mounted.is_empty() {
            if packages.len() > 1 {
                let packages = packages.into_iter().collect();
                return Err(CatalogError::SeveralPackages { packages });
            }
        } else {
            let is_missing = |package: &&String| !packages.contains(package.as_str());
            if let Some(package) = mounted.iter().find(is_missing).cloned() {
                return Err(CatalogError::NothingInPackage { package });
            }
            // An upcaster of a package with nothing else is used wherever no package is named.
            let is_mounted = |one: &UpcasterDescriptor| mounted.contains(one.declaration.package);
            self.upcasters.retain(is_mounted);
        }
        let is_served = |of: Declaration| {
            packages.contains(of.package) && (mounted.is_empty() || mounted.contains(of.package))
        };
        self.commands.retain(|one| is_served(one.declaration));
        self.events.retain(|one| is_served(one.declaration));
        self.read_models.retain(|one| is_served(one.declaration));
        self.queries.retain(|one| is_served(one.declaration));
        self.reactions.retain(|one| is_served(one.declaration));
        self.publications.retain(|one| is_served(one.declaration));
        self.public_events.retain(|one| is_served(one.declaration));
        self.settings.retain(|one| is_served(one.declaration));
        Ok(())
    }
}

/// Checks that each route of a command has a free path of its own.
fn check_commands(commands: &[CommandDescriptor]) -> Result<(), CatalogError> {
    let posted = || commands.iter().filter(|command| !command.is_internal());
    if let Some(command) = posted().find(|command| is_reserved_path(command.path)) {
        return Err(CatalogError::ReservedCommandPath {
            name: command.name,
            path: command.path,
            declaration: command.declaration,
        });
    }
    let paths = posted().map(|one| (one.path, one.name, one.declaration));
    Ok(check_unique(NamedKind::Command, paths)?)
}

/// Checks that a query has a free path and that its tables exist.
fn check_query(query: &QueryDescriptor, models: &ReadModels) -> Result<(), CatalogError> {
    let QueryDescriptor {
        name,
        path,
        declaration,
        ..
    } = *query;
    if is_reserved_path(path) {
        return Err(CatalogError::ReservedQueryPath {
            name,
            path,
            declaration,
        });
    }
    let mut tables = query.tables.iter().chain(query.read_models);
    match tables.find(|table| models.find_table(table).is_none()) {
        None => Ok(()),
        Some(table) => Err(CatalogError::NoSuchTable {
            name,
            table,
            declaration,
        }),
    }
}

/// Checks that every rejection name has one meaning across all commands.
fn check_rejection_names(commands: &[CommandDescriptor]) -> Result<(), CatalogError> {
    let mut known: BTreeMap<&str, &RejectionDescriptor> = BTreeMap::new();
    for rejection in commands.iter().flat_map(|command| (command.rejections)()) {
        let first = *known.entry(rejection.name).or_insert(rejection);
        if (first.kind, first.title) != (rejection.kind, rejection.title) {
            return Err(CatalogError::AmbiguousRejection {
                name: rejection.name,
                first: first.declaration,
                second: rejection.declaration,
            });
        }
    }
    Ok(())
}
