//! `personal` names personal fields.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookReturnedEvent {
    id: Uuid,
}

#[derive(PublicEvent)]
#[public_event(package = "com.example.tests")]
struct CopyAvailable {
    id: Uuid,
}

#[publish(personal(id))]
fn copy_available(event: &BookReturnedEvent) -> CopyAvailable {
    CopyAvailable { id: event.id }
}

fn main() {}
