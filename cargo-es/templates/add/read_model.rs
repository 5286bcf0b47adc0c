//! The read model {{name}}: one row for each key.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "{{table}}"{{subject}})]
pub struct {{name}} {
    {{fields}}
}

#[projection]
impl {{name}} {
{{functions}}}

#[cfg(test)]
mod tests {
    #[test]
    fn the_rows_follow_from_their_events() {
        panic!("decide what each event changes in {{name}}, and compare `rows`");
    }
}
