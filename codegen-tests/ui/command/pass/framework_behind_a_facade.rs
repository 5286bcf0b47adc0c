//! `#[es(crate = "…")]` finds the framework where another crate re-exports it.

#![deny(warnings)]

mod facade {
    pub use es_framework as es;
}

use facade::es::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
#[es(crate = "crate::accepted::command_framework_behind_a_facade::facade::es")]
struct PurchaseBookCommand {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.library")]
#[es(crate = "crate::accepted::command_framework_behind_a_facade::facade::es")]
struct BookPurchasedEvent {
    id: Uuid,
}

#[handler]
#[es(crate = "crate::accepted::command_framework_behind_a_facade::facade::es")]
fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
    BookPurchasedEvent { id: command.id }
}
