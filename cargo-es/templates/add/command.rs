//! The command {{command}}, its event and its decision.

use es_framework::prelude::*;

/// {{command summary}}
#[derive(Command)]
{{attribute}}
pub struct {{command}} {{fields}}

/// {{event summary}}
#[derive(Debug, PartialEq, Event)]
#[event(from = {{command}})]
pub struct {{event}} {{event fields}}

#[handler]
{{handler}}
    command.into()
}

#[cfg(test)]
mod tests {
    use es_framework::testing::given;

    use super::*;

    fn command() -> {{command}} {
        {{sample}}
    }

    #[test]
    fn the_command_is_recorded() {
        let event: {{event}} = command().into();
        given().when(command()).then(event);
    }

{{test}}}
