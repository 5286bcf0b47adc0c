//! A parameter that nobody can give.

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

struct Printer;

#[handler]
fn purchase(command: PurchaseBookCommand, printer: &Printer) -> BookPurchasedEvent {
    BookPurchasedEvent { id: command.id }
}

fn main() {}
