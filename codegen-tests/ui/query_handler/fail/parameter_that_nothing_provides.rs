//! A parameter is of a type that no application provides.

use es_framework::prelude::*;

#[derive(Query)]
#[query(path = "/books/count")]
struct CountBooks {}

struct Prices {}

#[query_handler]
async fn count(_: CountBooks, prices: &Prices) -> Result<u64, QueryError> {
    Ok(0)
}

fn main() {}
