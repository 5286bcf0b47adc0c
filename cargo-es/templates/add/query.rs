//! The query {{name}}.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
#[derive(Query)]
#[query(path = "{{path}}", {{answer}})]
pub struct {{name}} {
    {{fields}}
}
{{handler}}
#[cfg(test)]
mod tests {
    #[test]
    fn the_query_returns_its_rows() {
        panic!("decide which rows {{name}} returns, and compare them with `query`");
    }
}
