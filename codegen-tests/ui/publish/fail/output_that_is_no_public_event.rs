//! Only public events are published.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookReturnedEvent {
    id: Uuid,
}

#[publish]
fn copy_available(event: &BookReturnedEvent) -> Option<BookReturnedEvent> {
    Some(BookReturnedEvent { id: event.id })
}

fn main() {}
