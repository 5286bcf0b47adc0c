//! All mistakes of one function are reported at once.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

struct Clock;

#[handler(retry)]
async unsafe fn purchase(command: PurchaseBookCommand, clock: &Clock) {}

fn main() {}
