//! Nobody calls an internal command.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct ReaderRemindedEvent {}

#[derive(Command)]
#[command(subject = "/books/{id}", internal, role = "staff")]
struct RemindReaderCommand {
    id: Uuid,
}

#[handler]
fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent {
    ReaderRemindedEvent {}
}

fn main() {}
