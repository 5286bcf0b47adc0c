//! Declarations that contradict each other for certain.

use std::collections::BTreeSet;

use super::{catalog::Catalog, event_subjects::SubjectScope, state_parameter::StateParameter};

/// Returns a sentence about the first contradiction.
pub(crate) fn find_contradiction(catalog: &Catalog) -> Option<String> {
    let state = catalog
        .states()
        .find_map(|taken| check_state(catalog, taken));
    state.or_else(|| find_projection_without_event(catalog))
}

fn check_state(catalog: &Catalog, taken: StateParameter<'_>) -> Option<String> {
    let StateParameter {
        command,
        parameter,
        state,
        subject,
    } = taken;
    let scope = SubjectScope {
        template: subject,
        recursive: parameter.recursive,
    };
    let outside = catalog.subjects.subjects_if_outside(state.events, scope)?;
    Some(format!(
        "{}, handled at {}, takes `{parameter}: &{state}` from its subject {subject}, but no event of {state} at {} can occur there, so that there is never such a state: its events occur on {}: write `#[subject(\"{}\")]` in front of `{parameter}`, with a field of the command in the braces",
        command.name,
        command.handler,
        state.declaration,
        list(&outside),
        outside.first()?,
        parameter = parameter.name,
        state = state.name,
    ))
}

fn find_projection_without_event(catalog: &Catalog) -> Option<String> {
    catalog.models.iter().find_map(|table| {
        let model = table.model;
        let scope = SubjectScope {
            template: model.subject,
            recursive: false,
        };
        model.events_of_subject.iter().find_map(|event| {
            let outside = catalog.subjects.subjects_if_outside(&[*event], scope)?;
            Some(format!(
                "the read model {} at {} has its keys in the subject {}, where {event} cannot occur, so that its projection never receives this event: it occurs on {}: write `#[key(…)]` above the function, with the field of the event that holds the key, or correct the subject in `#[read_model(subject = \"…\")]`",
                model.name,
                model.declaration,
                model.subject,
                list(&outside)
            ))
        })
    })
}

fn list(subjects: &BTreeSet<&str>) -> String {
    subjects.iter().copied().collect::<Vec<_>>().join(" and ")
}
