//! The query {{query}}.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
#[derive(Query)]
{{attribute}}
pub struct {{query}} {{fields}}

#[cfg(test)]
mod tests {
    #[test]
    fn the_query_returns_its_rows() {
{{panic}}
    }
}
