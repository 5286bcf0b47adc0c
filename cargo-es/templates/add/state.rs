//! The state {{name}}, which follows from events.
#![allow(dead_code, reason = "until a handler takes the state")]

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
#[derive(Debug, PartialEq, State)]
pub struct {{name}} {
    {{fields}}
}

#[evolve]
impl {{name}} {
{{functions}}}

#[cfg(test)]
mod tests {
    #[test]
    fn the_state_follows_from_its_events() {
        panic!("decide what each event changes in {{name}}, and compare it with `then_state`");
    }
}
