//! Declarations that contradict each other for certain.

use super::event_subjects::{EventSubjects, SubjectScope};
use crate::{
    Declaration,
    command::{CommandDescriptor, Parameter, ParameterOrigin, Registry},
    projection::ReadModels,
};

/// A contradiction, which prevents the start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum DeclarationsError {
    /// No event of a state can occur on the subject that the handler rebuilds it from.
    #[error(
        "{command}, handled at {handler}, takes `{parameter}: &{state}` from its subject {subject}, but no event of {state} at {declaration} can occur there, so that there is never such a state: its events occur on {subjects}: write `#[subject(\"{example}\")]` in front of `{parameter}`, with a field of the command in the braces"
    )]
    StateWithoutEvents {
        command: &'static str,
        handler: Declaration,
        parameter: &'static str,
        state: &'static str,
        declaration: Declaration,
        subject: &'static str,
        subjects: String,
        example: String,
    },
    /// An event of a projection cannot occur on the subject of the read model.
    #[error(
        "the read model {table} at {declaration} has its keys in the subject {subject}, where {event} cannot occur, so that its projection never receives this event: it occurs on {subjects}: write `#[key(…)]` above the function, with the field of the event that holds the key, or correct the subject in `#[read_model(subject = \"…\")]`"
    )]
    ProjectionWithoutEvent {
        table: &'static str,
        declaration: Declaration,
        subject: &'static str,
        event: &'static str,
        subjects: String,
    },
}

/// Returns the first contradiction.
pub(in super::super) fn find_contradiction(
    registry: &Registry,
    models: &ReadModels,
) -> Option<DeclarationsError> {
    let subjects = EventSubjects::new(registry);
    let mut states = registry.commands().iter().flat_map(|command| {
        let parameters = command.parameters.iter();
        parameters.map(move |parameter| (command, parameter))
    });
    let state = states.find_map(|(command, parameter)| check_state(command, parameter, &subjects));
    state.or_else(|| find_projection(models, &subjects))
}

fn check_state(
    command: &CommandDescriptor,
    parameter: &Parameter,
    subjects: &EventSubjects,
) -> Option<DeclarationsError> {
    let ParameterOrigin::State(state) = parameter.origin else {
        return None;
    };
    let subject = parameter.subject.unwrap_or(command.subject);
    let scope = SubjectScope {
        template: subject,
        recursive: parameter.recursive,
    };
    let outside = subjects.subjects_if_outside(state.events, scope)?;
    Some(DeclarationsError::StateWithoutEvents {
        command: command.name,
        handler: command.handler,
        parameter: parameter.name,
        state: state.name,
        declaration: state.declaration,
        subject,
        example: (*outside.first()?).to_owned(),
        subjects: list(outside),
    })
}

fn find_projection(models: &ReadModels, subjects: &EventSubjects) -> Option<DeclarationsError> {
    models.iter().find_map(|table| {
        let model = table.model;
        let scope = SubjectScope {
            template: model.subject,
            recursive: false,
        };
        model.events_of_subject.iter().find_map(|event| {
            let outside = subjects.subjects_if_outside(&[*event], scope)?;
            Some(DeclarationsError::ProjectionWithoutEvent {
                table: model.name,
                declaration: model.declaration,
                subject: model.subject,
                event,
                subjects: list(outside),
            })
        })
    })
}

fn list<'a>(subjects: impl IntoIterator<Item = &'a str>) -> String {
    subjects.into_iter().collect::<Vec<_>>().join(" and ")
}
