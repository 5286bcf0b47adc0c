//! The reaction {{reaction}}.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
pub struct {{reaction}};

#[reaction]
impl {{reaction}} {
    {{function}}
        None
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_reaction_sends_its_command() {
{{panic}}
    }
}
