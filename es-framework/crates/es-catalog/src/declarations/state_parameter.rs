//! The states that handlers, reactions and publications take.

use es_command::{
    command::{CommandDescriptor, Parameter, ParameterOrigin},
    state::StateDescriptor,
};

/// A state that a handler takes.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct StateParameter<'a> {
    /// The command of the handler.
    pub command: &'a CommandDescriptor,
    /// The parameter of the handler.
    pub parameter: Parameter,
    /// The state.
    pub state: StateDescriptor,
    /// The template of the subject that the state is rebuilt from.
    pub subject: &'static str,
}

/// Returns the states that the handlers of these commands take.
pub(crate) fn states_of(
    commands: &[CommandDescriptor],
) -> impl Iterator<Item = StateParameter<'_>> {
    commands.iter().flat_map(|command| {
        let parameters = (command.parameters)().into_iter();
        parameters.filter_map(move |parameter| match parameter.origin {
            ParameterOrigin::State(state) => Some(StateParameter {
                command,
                parameter,
                state,
                subject: parameter.subject.unwrap_or(command.subject),
            }),
            ParameterOrigin::Service(_) | ParameterOrigin::Metadata | ParameterOrigin::Caller => {
                None
            }
        })
    })
}

/// Returns the states among parameters, with the templates of their subjects. A state without a template
/// is that of the event's own subject.
pub(crate) fn states_of_parameters(
    parameters: &[Parameter],
) -> impl Iterator<Item = (StateDescriptor, Option<&'static str>)> {
    parameters
        .iter()
        .filter_map(|parameter| match parameter.origin {
            ParameterOrigin::State(state) => Some((state, parameter.subject)),
            ParameterOrigin::Service(_) | ParameterOrigin::Metadata | ParameterOrigin::Caller => {
                None
            }
        })
}
