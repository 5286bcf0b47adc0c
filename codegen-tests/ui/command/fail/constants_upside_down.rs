//! Rules whose bounds are constants or fractions, and that no value satisfies.

use es_framework::prelude::*;

const LEAST: i64 = 9;
const LONGEST: usize = 2;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(range(min = LEAST, max = 1))]
    value: i64,
    #[validate(range(min = 1.5, max = 0.5))]
    weight: f64,
    #[validate(items(max = 3), each(text(min = 3, max = LONGEST)))]
    tags: Vec<String>,
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {}

#[handler]
fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent {
    BookPurchasedEvent {}
}

fn main() {}
