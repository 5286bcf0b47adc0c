//! The query {{query}}.

use es_framework::prelude::*;

{{imports}}
/// {{summary}}
#[derive(Query)]
{{attribute}}
pub struct {{query}} {{fields}}

#[query_handler(reads = [{{model}}])]
{{handler}}
    let rows = context.rows::<{{model}}>();
{{filters}}    rows.page(context.paging()).await
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_query_returns_its_rows() {
{{panic}}
    }
}
