//! The publication of {{public event}}.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
#[publish]
fn {{function}}(_: &{{event}}) -> Option<{{public event}}> {
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_public_event_follows() {
        panic!("decide when {{function}} publishes {{public event}}, and compare it with `then_published`");
    }
}
