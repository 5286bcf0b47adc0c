//! Texts are added.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {
    id: Uuid,
    title: String,
}

#[derive(ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}")]
struct BookCopy {
    #[key]
    id: Uuid,
    title: String,
    tags: Vec<String>,
}

#[projection]
impl BookCopy {
    fn purchased(event: &BookPurchasedEvent) -> Self {
        Self { id: event.id, title: event.title.clone(), tags: vec![] }
    }
}

#[derive(Query)]
#[query(path = "/books")]
struct CountPages {}

impl QueryHandler for CountPages {
    type Output = Option<f64>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Option<f64>, QueryError> {
        let copies = context.rows::<BookCopy>();
        copies.aggregate(BookCopy::title().average()).await
    }
}

fn main() {}
