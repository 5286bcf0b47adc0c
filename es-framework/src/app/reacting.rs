//! Starts the reactions of an application on their own thread, so that a blocking call delays no
//! request and no read model.

use std::sync::Arc;

use uuid::Uuid;

use super::{declared::is_served, processing::Processing};
use crate::{
    Result,
    command::{CommandBus, Registry, Services},
    event::Upcasters,
    http::health::Lifecycle,
    reaction::{
        Operator, ReactionDescriptor, ReactionRunner, ReactionRuntime, Reactions, ReactionsError,
    },
    store::EventStore,
};

/// Selects the reactions of the packages that the application serves.
pub(super) fn declared(
    registry: &Registry,
    reactions: Vec<ReactionDescriptor>,
) -> Result<Reactions, ReactionsError> {
    let reactions = reactions.into_iter();
    Reactions::new(reactions.filter(|reaction| is_served(registry, reaction.declaration)))
}

/// Creates the runner of the reactions.
pub(super) fn reaction_runner(
    reactions: Reactions,
    bus: CommandBus,
    store: Arc<dyn EventStore>,
    source: &str,
    services: Services,
    upcasters: Upcasters,
) -> ReactionRunner {
    let runtime = ReactionRuntime {
        bus,
        store,
        source: source.into(),
        services,
        upcasters,
        instance: Uuid::new_v4(),
        sent_commands: None,
    };
    ReactionRunner::new(runtime, reactions)
}

/// Starts the reactions and returns their operator interface.
pub(super) fn start(
    runner: ReactionRunner,
    lifecycle: &Lifecycle,
) -> Result<(Processing, Operator)> {
    let operator = runner.operator();
    let failed = "the reactions cannot begin";
    let processing = Processing::start("reactions", failed, runner.run(), lifecycle)?;
    Ok((processing, operator))
}
