//! Mounts the console.

use axum::Router;
use es_console::{Console, DeclaredCommand, DeclaredState};
use es_model::ApplicationModel;

use crate::{
    command::{ParameterOrigin, Registry},
    config::Settings,
    http::{HttpContext, auth::Auth},
    projection::ReadModels,
};

/// Returns the routes of the console, unless the settings turn it off.
pub(super) fn routes(
    name: &'static str,
    settings: &Settings,
    registry: &Registry,
    models: ReadModels,
    model: ApplicationModel,
    context: &HttpContext,
) -> Option<Router> {
    if !settings.console {
        return None;
    }
    let is_local = settings.http_host.is_loopback() && !settings.http_open;
    Some(es_console::router(Console {
        name,
        store: context.health.store.clone(),
        upcasters: registry.upcasters(),
        states: declared_states(registry),
        commands: declared_commands(registry),
        event_types: registry.events().iter().map(|one| one.event_type).collect(),
        models,
        model,
        read_models: context.positions.clone(),
        database: context.database.clone(),
        reactions: context.health.reactions.clone(),
        read_model_operator: context.read_models.clone(),
        reaction_operator: context.reactions.clone(),
        is_open: is_local && matches!(context.auth, Auth::Open),
        operator_token: context.operator_token.clone(),
        is_tls: context.browsers.tls,
        shutdown: context.live.shutdown(),
    }))
}

/// Returns each state that a handler takes, once for each shape of a subject.
fn declared_states(registry: &Registry) -> Vec<DeclaredState> {
    let mut states = Vec::<DeclaredState>::new();
    for command in registry.commands() {
        for parameter in command.parameters {
            let ParameterOrigin::State(descriptor) = parameter.origin else {
                continue;
            };
            states.push(DeclaredState {
                descriptor,
                template: parameter.subject.unwrap_or(command.subject),
                recursive: parameter.recursive,
            });
        }
    }
    let key = |state: &DeclaredState| {
        let shape = subject_shape(state.template);
        (state.descriptor.name, shape, state.recursive)
    };
    states.sort_by_key(key);
    states.dedup_by_key(|state| key(state));
    states
}

/// Returns a template without the names of its fields, which differ between commands.
fn subject_shape(template: &str) -> String {
    let segments = template.split('/').map(|segment| match segment {
        field if field.starts_with('{') => "{}",
        fixed => fixed,
    });
    segments.collect::<Vec<_>>().join("/")
}

fn declared_commands(registry: &Registry) -> Vec<DeclaredCommand> {
    let commands = registry.commands().iter();
    let sent_by_clients = commands.filter(|command| !command.is_internal());
    sent_by_clients
        .map(|command| DeclaredCommand {
            name: command.name,
            template: command.subject,
        })
        .collect()
}
