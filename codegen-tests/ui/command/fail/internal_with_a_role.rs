//! An internal command is posted by nobody.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", internal, role = "staff")]
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
