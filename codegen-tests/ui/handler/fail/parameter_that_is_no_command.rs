//! A struct that is no command.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

struct Order {
    id: Uuid,
}

#[handler]
fn purchase(order: Order) -> BookPurchasedEvent {
    BookPurchasedEvent { id: order.id }
}

fn main() {}
