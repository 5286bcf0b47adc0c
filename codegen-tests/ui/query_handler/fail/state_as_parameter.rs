//! A query reads rows and no states.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {}

#[derive(State)]
struct Book {}

#[evolve]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self {}
    }
}

#[derive(Query)]
#[query(path = "/books/count")]
struct CountBooks {}

#[query_handler]
async fn count(_: CountBooks, book: &Book) -> Result<u64, QueryError> {
    Ok(0)
}

fn main() {}
