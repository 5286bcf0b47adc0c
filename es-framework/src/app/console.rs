//! Mounts the console.

use std::sync::Arc;

use axum::Router;
use es_console::{Console, ConsoleLink, DeclaredState, SessionLog};
use es_event::subject_template;
use es_eventql::QueryLimits;
use es_personal::PersonalData;

use crate::{
    catalog::{Catalog, StateParameter},
    config::Settings,
    http::HttpContext,
    store::EventLog,
};

/// Returns the routes of the console, unless the settings turn it off.
pub(super) fn routes(
    name: &'static str,
    settings: &Settings,
    catalog: &Catalog,
    context: &HttpContext,
    link_key: Option<&str>,
) -> Option<Router> {
    if !settings.console {
        return None;
    }
    let findings = catalog.findings(context.auth.find_known_roles().as_ref());
    let model = catalog.to_model(name, &findings);
    let (store, state_store): (Arc<dyn EventLog>, Arc<dyn EventLog>) = match context
        .personal_data
        .as_ref()
        .map(PersonalData::redacted_store)
    {
        Some(redacted) => (Arc::new(redacted.clone().for_pages()), Arc::new(redacted)),
        None => (context.health.store.clone(), context.health.store.clone()),
    };
    Some(es_console::router(Console {
        name,
        store,
        state_store,
        catalog: context.health.store.clone(),
        upcasters: catalog.upcasters().clone(),
        states: declared_states(catalog),
        snapshots: context.command_resources.snapshots(),
        query_limits: query_limits(settings),
        models: catalog.read_models().clone(),
        model,
        read_models: context.positions.clone(),
        database: context.database.clone(),
        reactions: context.health.reactions.clone(),
        read_model_operator: context.read_models.clone(),
        reaction_operator: context.reactions.clone(),
        session_log: SessionLog {
            store: context.health.store.clone(),
            source: settings.source(name).into(),
        },
        link: link_key.and_then(|key| ConsoleLink::new(key).ok()),
        operator_token: context.operator_token.clone(),
        personal_data: context.personal_data.clone(),
        is_tls: context.browsers.tls,
        shutdown: context.live.shutdown_token(),
    }))
}

/// Returns the limits of an EventQL query. It has to end before the time of the request does.
fn query_limits(settings: &Settings) -> QueryLimits {
    let limits = settings.eventql_limits();
    let time = limits.time.min(
        settings
            .http_request_seconds
            .checked_div(2)
            .unwrap_or_default(),
    );
    QueryLimits { time, ..limits }
}

/// Returns each state that a handler takes, once for each shape of a subject.
fn declared_states(catalog: &Catalog) -> Vec<DeclaredState> {
    let state = |taken: StateParameter<'_>| DeclaredState {
        descriptor: taken.state,
        template: taken.subject,
        recursive: taken.parameter.recursive,
    };
    let mut states: Vec<_> = catalog.states().map(state).collect();
    let key = |state: &DeclaredState| {
        let shape = subject_template::shape(state.template);
        (state.descriptor.name, shape, state.recursive)
    };
    states.sort_by_key(key);
    states.dedup_by_key(|state| key(state));
    states
}
