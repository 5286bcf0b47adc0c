//! The event {{name}}.

use es_framework::prelude::*;

/// {{summary}}
#[derive(Debug, PartialEq, Event)]
#[event(subject = "{{subject}}")]
pub struct {{name}} {
    {{fields}}
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_handler_records_the_event() {
        panic!("decide which handler records {{name}}, and write its scenario");
    }
}
