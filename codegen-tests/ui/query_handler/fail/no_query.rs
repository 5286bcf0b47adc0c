//! The first parameter is no query.

use es_framework::prelude::*;

struct CountBooks {}

#[query_handler]
async fn count(_: CountBooks) -> Result<u64, QueryError> {
    Ok(0)
}

fn main() {}
