//! The read model {{model}}: one row for each key.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
#[derive(Debug, PartialEq, ReadModel)]
{{attribute}}
pub struct {{model}} {{fields}}

#[projection]
impl {{model}} {
{{functions}}}

#[cfg(test)]
mod tests {
    #[test]
    fn the_rows_follow_from_their_events() {
{{panic}}
    }
}
