//! An event that is a union.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
union BookEvent {
    id: u64,
    isbn: u64,
}

fn main() {}
