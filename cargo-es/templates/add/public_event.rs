//! The public event {{name}}.

use es_framework::prelude::*;

/// {{summary}}
#[derive(Debug, PartialEq, PublicEvent)]
pub struct {{name}} {
    {{fields}}
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_publication_publishes_the_event() {
        panic!("decide after which event {{name}} is published, and compare it with `then_published`");
    }
}
