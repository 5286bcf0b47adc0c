//! The reactions of an application: which are served, what they stand on, and the thread that they
//! run on. A call that blocks holds up no request and no read model.

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

/// The reactions that are declared where something else is served.
pub(super) fn declared(
    registry: &Registry,
    reactions: Vec<ReactionDescriptor>,
) -> Result<Reactions, ReactionsError> {
    let reactions = reactions.into_iter();
    Reactions::new(reactions.filter(|reaction| is_served(registry, reaction.declaration)))
}

/// The reactions, ready to begin.
pub(super) fn reactors(
    reactions: Reactions,
    bus: CommandBus,
    store: Arc<dyn EventStore>,
    source: &str,
    services: Services,
    upcasters: Upcasters,
) -> ReactionRunner {
    let ground = ReactionRuntime {
        bus,
        store,
        source: source.into(),
        services,
        upcasters,
        instance: Uuid::new_v4(),
        witness: None,
    };
    ReactionRunner::new(ground, reactions)
}

/// Reactions at work, and what takes an operator's requests.
pub(super) fn start(
    reactors: ReactionRunner,
    lifecycle: &Lifecycle,
) -> Result<(Processing, Operator)> {
    let operator = reactors.operator();
    let failed = "the reactions cannot begin";
    let processing = Processing::start("reactions", failed, reactors.run(), lifecycle)?;
    Ok((processing, operator))
}
