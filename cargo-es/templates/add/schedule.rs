//! The schedule {{name}}.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
pub struct {{name}};

#[reaction]
impl {{name}} {
    #[schedule(cron = {{cron}}{{zone}})]
    fn {{function}}(_: Timestamp) -> Option<{{command}}> {
        None
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schedule_sends_its_command() {
        panic!("decide when {{name}} sends {{command}}, and compare it with `advance` and `then_sent`");
    }
}
