//! An event that is an enum.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
enum BookEvent {
    Purchased { id: Uuid },
    Removed { id: Uuid },
}

fn main() {}
