//! A command is internal or it is not.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", internal = true)]
struct RemindReaderCommand {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct ReaderRemindedEvent {}

#[handler]
fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent {
    ReaderRemindedEvent {}
}

fn main() {}
