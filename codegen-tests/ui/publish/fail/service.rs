//! A publication takes states, and no services.

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

#[derive(Service)]
struct Mailer;

#[publish]
fn copy_available(event: &BookReturnedEvent, _mailer: &Mailer) -> CopyAvailable {
    CopyAvailable { id: event.id }
}

fn main() {}
