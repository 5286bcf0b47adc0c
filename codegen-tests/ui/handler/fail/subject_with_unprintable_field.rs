//! A field that cannot stand in a subject.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    id: Uuid,
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    reader: Uuid,
}

#[derive(State)]
struct Book {
    copies: u32,
}

#[evolve]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self { copies: 1 }
    }
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct RenameBookCommand {
    id: Uuid,
    name: Option<String>,
}

#[handler]
fn other(command: PurchaseBookCommand) -> BookPurchasedEvent {
    BookPurchasedEvent { id: command.id }
}

#[handler]
fn purchase(
    #[subject("/readers/{name}")] _book: &Book,
    command: RenameBookCommand,
) -> BookPurchasedEvent {
    BookPurchasedEvent { id: command.id }
}

fn main() {}
