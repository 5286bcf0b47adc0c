//! The state {{state}}, which follows from events.
#![allow(dead_code, reason = "until a handler takes the state")]

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
#[derive(Debug, PartialEq, State)]
pub struct {{state}} {{fields}}

#[evolve]
impl {{state}} {
{{functions}}}

#[cfg(test)]
mod tests {
    #[test]
    fn the_state_follows_from_its_events() {
{{panic}}
    }
}
