//! The schedule {{reaction}}.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
pub struct {{reaction}};

#[reaction]
impl {{reaction}} {
    #[schedule({{schedule}})]
    {{function}}
        None
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schedule_sends_its_command() {
{{panic}}
    }
}
