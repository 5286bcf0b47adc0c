//! The reaction {{name}}.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
pub struct {{name}};

#[reaction]
impl {{name}} {
    fn {{function}}(_: &{{event}}) -> Option<{{command}}> {
        None
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_reaction_sends_its_command() {
        panic!("decide when {{name}} sends {{command}}, and compare it with `then_sent`");
    }
}
