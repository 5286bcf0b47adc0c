//! The event {{event}}.

use es_framework::prelude::*;

/// {{summary}}
#[derive(Debug, PartialEq, Event)]
{{attribute}}
pub struct {{event}} {{fields}}

#[cfg(test)]
mod tests {
    #[test]
    fn a_handler_records_the_event() {
{{panic}}
    }
}
