//! The command {{name}}, its event and its decision.

use es_framework::prelude::*;

/// {{summary}}
#[derive(Command)]
#[command(subject = "{{subject}}"{{condition}})]
pub struct {{name}} {
    {{fields}}
}

/// {{event summary}}
#[derive(Debug, PartialEq, Event)]
#[event(from = {{name}})]
pub struct {{event}} {
    {{event fields}}
}

#[handler]
fn {{function}}(command: {{name}}) -> {{event}} {
    command.into()
}

#[cfg(test)]
mod tests {
    use es_framework::testing::given;

    use super::*;

    fn command() -> {{name}} {
        {{sample}}
    }

    #[test]
    fn the_command_is_recorded() {
        let event: {{event}} = command().into();
        given().when(command()).then(event);
    }

{{test}}}
