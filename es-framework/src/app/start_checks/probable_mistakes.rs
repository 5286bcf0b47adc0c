//! Declarations that are probably mistaken. Each is one warning at start, and an attribute silences it.

use std::collections::{BTreeMap, BTreeSet};

use es_event::subject_template::shape;

use super::{
    declaration_warning::DeclarationWarning, event_subjects::EventSubjects, reaction_loops,
};
use crate::{
    Declaration,
    command::{ParameterOrigin, Registry},
    event::EventDescriptor,
    projection::ReadModels,
    query::QueryRoute,
    reaction::{ReactionTiming, Reactions},
    state::StateDescriptor,
};

/// Returns the probable mistakes in the declarations, in a stable order.
pub(in super::super) fn find_probable_mistakes(
    registry: &Registry,
    models: &ReadModels,
    reactions: &Reactions,
) -> Vec<DeclarationWarning> {
    let consumed = consumed_events(registry, models, reactions);
    let is_checked = |event: &&EventDescriptor| !event.informational;
    let events = registry.events().iter().filter(is_checked);
    let unconsumed = events.filter(|event| !consumed.contains(event.event_type));
    let unconsumed = unconsumed.map(|event| DeclarationWarning::UnconsumedEvent {
        event: event.event_type,
        declaration: event.declaration,
    });
    let mut warnings: Vec<_> = unconsumed.collect();
    warnings.extend(ignored_events(registry, &consumed));
    warnings.extend(reaction_loops::find_reaction_loops(registry, reactions));
    warnings
}

/// The types of the events that something consumes.
fn consumed_events(
    registry: &Registry,
    models: &ReadModels,
    reactions: &Reactions,
) -> BTreeSet<&'static str> {
    let mut consumed = BTreeSet::new();
    for (_, state) in states(registry) {
        consumed.extend(state.events);
    }
    for table in models.iter() {
        consumed.extend(table.model.events);
    }
    for step in reactions.iter().flat_map(|reaction| reaction.steps) {
        consumed.insert(step.event);
        if let ReactionTiming::Deadline(deadline) = step.when {
            consumed.extend(deadline.unless);
        }
    }
    let upcasters = registry.upcasters();
    consumed.extend(upcasters.iter().map(|upcaster| upcaster.from));
    consumed
}

/// The states that handlers take, each with its subject.
fn states(registry: &Registry) -> impl Iterator<Item = (&'static str, StateDescriptor)> {
    registry.commands().iter().flat_map(|command| {
        let parameters = command.parameters.iter();
        parameters.filter_map(|parameter| match parameter.origin {
            ParameterOrigin::State(state) => {
                Some((parameter.subject.unwrap_or(command.subject), state))
            }
            ParameterOrigin::Service(_) | ParameterOrigin::Metadata | ParameterOrigin::Caller => {
                None
            }
        })
    })
}

/// Returns the consumed events that no state of their subject has a function for. It is enough if one state has such a
/// function, because each state of a subject serves one decision only.
fn ignored_events(
    registry: &Registry,
    consumed: &BTreeSet<&'static str>,
) -> Vec<DeclarationWarning> {
    let subjects = EventSubjects::new(registry);
    let mut by_subject: BTreeMap<String, Vec<(&str, StateDescriptor)>> = BTreeMap::new();
    for (subject, state) in states(registry) {
        let states = by_subject.entry(shape(subject)).or_default();
        states.push((subject, state));
    }
    let mut warnings = vec![];
    for states in by_subject.values() {
        let Some((subject, first)) = states.first() else {
            continue;
        };
        for event_type in subjects.events_on(subject) {
            let is_known = states
                .iter()
                .any(|(_, state)| state.events.contains(&event_type));
            let mut declared = registry.events().iter();
            let event = declared.find(|event| event.event_type == event_type);
            if let Some(event) = event
                && !is_known
                && !event.informational
                && consumed.contains(event_type)
            {
                warnings.push(DeclarationWarning::IgnoredEvent {
                    state: first.name,
                    state_at: first.declaration,
                    event: event_type,
                    declaration: event.declaration,
                    subject: (*subject).to_owned(),
                });
            }
        }
    }
    warnings
}

/// Returns the roles that a command or a query requires and that nobody can have.
pub(in super::super) fn find_unknown_roles(
    registry: &Registry,
    queries: &[QueryRoute],
    roles: &BTreeSet<String>,
) -> Vec<DeclarationWarning> {
    let commands = registry.commands().iter();
    let commands = commands
        .filter(|command| !command.is_internal())
        .map(|command| RequiredRole {
            roles: command.roles,
            without_token: command.role_without_token,
            name: command.name,
            declaration: command.declaration,
        });
    let queries = queries.iter().map(|query| RequiredRole {
        roles: query.roles(),
        without_token: query.role_without_token(),
        name: &query.path,
        declaration: query.declaration,
    });
    let required: Vec<_> = commands.chain(queries).collect();
    // One key `role_without_token` is enough for a role that several declarations require.
    let without_token = required.iter().filter(|one| one.without_token);
    let mut known: BTreeSet<&str> = without_token.flat_map(|one| one.roles).copied().collect();
    known.extend(roles.iter().map(String::as_str));
    required
        .iter()
        .filter_map(|one| {
            if one.roles.iter().any(|role| known.contains(role)) {
                return None;
            }
            // One warning for each role.
            known.extend(one.roles);
            (!one.roles.is_empty()).then(|| DeclarationWarning::UnknownRole {
                role: one.roles.join(" or "),
                name: one.name.to_owned(),
                declaration: one.declaration,
            })
        })
        .collect()
}

/// The roles of which a command or a query requires one.
struct RequiredRole<'a> {
    roles: &'static [&'static str],
    without_token: bool,
    name: &'a str,
    declaration: Declaration,
}
