//! The reaction {{name}}.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
pub struct {{name}};

#[reaction(begin = new)]
impl {{name}} {
    async fn {{function}}(_: &{{event}}, _recorded: &RecordedEvent, _key: &ReactionKey) -> Result<(), std::io::Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_reaction_calls_the_other_system() {
        panic!("decide which system {{name}} calls, and pass the key on as an idempotency key");
    }
}
