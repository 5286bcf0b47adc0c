//! The sinks that the settings name, as reactions beside those that the application declares.

use std::sync::Arc;

use es_personal::{PersonalStore, RedactedStore};

use super::declarations::start_error;
#[cfg(feature = "webhook")]
use crate::{Error, reaction::sink_reaction};
use crate::{
    Result,
    catalog::Catalog,
    command::CommandResources,
    config::Settings,
    reaction::{ReactionDescriptor, Reactions},
};

/// Returns the reactions of the application and its sinks.
pub(super) fn reactions_and_sinks(
    name: &'static str,
    settings: &Settings,
    catalog: &Catalog,
) -> Result<Reactions> {
    let declared = catalog.reactions().iter().copied();
    let sinks = open_sinks(settings, catalog)?.into_iter();
    Reactions::new(declared.chain(sinks)).map_err(|error| start_error(name, error))
}

/// Returns the resources of publications, whose states contain no personal value.
pub(super) fn redacted_resources(
    personal: Option<&PersonalStore>,
    resources: &CommandResources,
) -> Option<CommandResources> {
    let redacted = RedactedStore::new(personal?.sealed().clone());
    Some(resources.with_other_store(Arc::new(redacted)))
}

#[cfg(feature = "webhook")]
fn open_sinks(settings: &Settings, catalog: &Catalog) -> Result<Vec<ReactionDescriptor>> {
    let Some(file) = &settings.sinks_file else {
        return Ok(Vec::new());
    };
    let publications = catalog.publications();
    let events = publications
        .iter()
        .flat_map(|publication| (publication.public_events)());
    let published = events.map(|event| event.event_type).collect();
    let sinks = es_sink::read_sinks(file, &published)
        .map_err(|error| Error::because("SINKS_FILE is refused", error))?;
    let sinks = sinks.into_iter().map(|sink| {
        tracing::info!("sink {} receives public events", sink.sink.name);
        sink_reaction(sink, publications)
    });
    Ok(sinks.collect())
}

/// The check of the settings refuses sinks without the feature.
#[cfg(not(feature = "webhook"))]
fn open_sinks(_: &Settings, _: &Catalog) -> Result<Vec<ReactionDescriptor>> {
    Ok(Vec::new())
}
