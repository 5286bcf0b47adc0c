//! What of all declarations an application serves.

use crate::{
    Declaration,
    command::Registry,
    projection::{ReadModelDescriptor, ReadModels, ReadModelsError},
    query::{Queries, QueriesError, QueryDescriptor},
    reaction::Reactions,
    settings::{self, SettingsDescriptor},
};

/// The settings that handlers and reactions take.
pub(super) fn declared_settings(
    registry: &Registry,
    reactions: &Reactions,
) -> Vec<&'static SettingsDescriptor> {
    settings::declared(|settings| {
        let by_handlers = registry.services().map(|(kind, _)| kind);
        let by_reactions = reactions.services().map(|(kind, _)| kind);
        by_handlers
            .chain(by_reactions)
            .any(|kind| kind == settings.kind)
    })
}

/// Whether something is declared in one of the packages that are served.
pub(super) fn is_served(registry: &Registry, declaration: Declaration) -> bool {
    let commands = registry.commands().iter().map(|one| one.declaration);
    let events = registry.events().iter().map(|one| one.declaration);
    let mut served = commands.chain(events);
    served.any(|one| one.package == declaration.package)
}

pub(super) fn read_models(
    registry: &Registry,
    models: Vec<ReadModelDescriptor>,
) -> Result<ReadModels, ReadModelsError> {
    let models = models.into_iter();
    ReadModels::new(models.filter(|model| is_served(registry, model.declaration)))
}

pub(super) fn queries(
    registry: &Registry,
    queries: Vec<QueryDescriptor>,
    models: ReadModels,
) -> Result<(Queries, ReadModels), QueriesError> {
    let queries = queries.into_iter();
    let served = queries.filter(|query| is_served(registry, query.declaration));
    Queries::new(served, models)
}
