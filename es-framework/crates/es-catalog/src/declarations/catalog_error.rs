//! The errors of declarations that do not fit together.

use es_event::{Declaration, DuplicateDeclaration, UpcastersError};

/// The reason why an application cannot start with its declarations. Each variant names the places in the source.
///
/// ```
/// use es_framework::catalog::{Catalog, CatalogError};
///
/// let error = Catalog::builder().build().unwrap_err();
/// assert_eq!(error, CatalogError::Empty);
/// assert!(error.to_string().starts_with("no command is declared"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// No command is declared.
    #[error(
        "no command is declared: put #[derive(Command)] on a struct, or link the crate that holds the commands with `use the_crate as _;`"
    )]
    Empty,
    /// Two declarations have one name or path.
    #[error(transparent)]
    Duplicate(#[from] DuplicateDeclaration),
    /// Two different rejections have the same name.
    #[error(
        "two rejections are called {name} and differ in their sort or title: at {first} and at {second}: give one of them another name with #[rejection(name = \"…\")]"
    )]
    AmbiguousRejection {
        /// The name.
        name: &'static str,
        /// The place of the first declaration.
        first: Declaration,
        /// The place of the second declaration.
        second: Declaration,
    },
    /// Fields under one unique name are compared in different ways.
    #[error(
        "the fields under #[unique(\"{rule}\")] differ in the words after the name: at {first} and at {second}: give them the same words, or the second one another name"
    )]
    AmbiguousUniqueRule {
        /// The name of the rule.
        rule: &'static str,
        /// The place of the first event.
        first: Declaration,
        /// The place of the second event.
        second: Declaration,
    },
    /// An event releases values that no event has.
    #[error(
        "{event_type} at {declaration} releases the values of the rule {rule}, but no event has a field with #[unique(\"{rule}\")]: correct the name, or remove it from `releases`"
    )]
    UnknownUniqueRule {
        /// The name of the rule.
        rule: &'static str,
        /// The type of the event.
        event_type: &'static str,
        /// The place of the event.
        declaration: Declaration,
    },
    /// The upcasters contradict each other.
    #[error(transparent)]
    Upcasters(#[from] UpcastersError),
    /// The path of a command belongs to the framework.
    #[error(
        "{name} at {declaration} is posted to {path}, which the framework keeps for itself: give it another path with #[command(path = \"…\")]"
    )]
    ReservedCommandPath {
        /// The command.
        name: &'static str,
        /// The path.
        path: &'static str,
        /// The place of the declaration.
        declaration: Declaration,
    },
    /// The path of a query belongs to the framework.
    #[error(
        "{name} at {declaration} has the path {path}, which belongs to the framework: give it another path with #[query(path = \"…\")]"
    )]
    ReservedQueryPath {
        /// The query.
        name: &'static str,
        /// The path.
        path: &'static str,
        /// The place of the declaration.
        declaration: Declaration,
    },
    /// A query reads a read model that the application does not serve.
    #[error(
        "{name} at {declaration} reads the read model {table}, which the application does not serve: mount its package with App::mount(\"…\"), or register it with App::register_read_model"
    )]
    NoSuchTable {
        /// The query.
        name: &'static str,
        /// The table.
        table: &'static str,
        /// The place of the declaration.
        declaration: Declaration,
    },
    /// Several packages declare commands or events, so the application has to name those that it
    /// mounts.
    #[error("commands and events are declared in the packages {}: name each one that is to be served with App::mount(\"…\")", packages.join(", "))]
    SeveralPackages {
        /// The packages, in order.
        packages: Vec<&'static str>,
    },
    /// The application mounts a package that declares nothing.
    #[error("App::mount(\"{package}\"): the package declares no command and no event, or is not linked: write `use {} as _;`", package.replace('-', "_"))]
    NothingInPackage {
        /// The package.
        package: String,
    },
    /// The application does not provide a service that a handler takes.
    #[error(
        "the handler of {command} at {handler} takes `&{name}`, which the application does not provide: write App::provide({name} {{ … }})"
    )]
    NotProvidedToHandler {
        /// The type of the service.
        name: &'static str,
        /// The command.
        command: &'static str,
        /// The place of the handler.
        handler: Declaration,
    },
    /// The application does not provide a service that a call of a reaction takes.
    #[error(
        "the reaction {reaction} at {declaration} takes `&{name}`, which the application does not provide: write `.provide({name} {{ … }})` in front of `.run()`"
    )]
    NotProvidedToReaction {
        /// The type of the service.
        name: &'static str,
        /// The reaction.
        reaction: &'static str,
        /// The place of the declaration.
        declaration: Declaration,
    },
    /// The application does not provide a service that the handler of a query takes.
    #[error(
        "the handler of the query {query} at {declaration} takes `&{name}`, which the application does not provide: write App::provide({name} {{ … }})"
    )]
    NotProvidedToQuery {
        /// The type of the service.
        name: &'static str,
        /// The query.
        query: &'static str,
        /// The place of the query's declaration.
        declaration: Declaration,
    },
    /// The events of a state or of a projection cannot occur where the handler or the read model looks for them.
    #[error("{0}")]
    Contradiction(String),
}
