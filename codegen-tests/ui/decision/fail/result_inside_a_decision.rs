//! A refusal stands outside of the decision.

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
}

struct Refusal;

#[handler]
fn purchase(command: PurchaseBookCommand) -> Decision<Result<BookPurchasedEvent, Refusal>, Uuid> {
    Decision::new(Ok(BookPurchasedEvent { id: command.id }), command.id)
}

fn main() {}
