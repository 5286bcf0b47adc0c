//! A publication follows from a declared event.

use es_framework::prelude::*;

struct BookReturned {
    id: Uuid,
}

#[derive(PublicEvent)]
#[public_event(package = "com.example.tests")]
struct CopyAvailable {
    id: Uuid,
}

#[publish]
fn copy_available(event: &BookReturned) -> CopyAvailable {
    CopyAvailable { id: event.id }
}

fn main() {}
