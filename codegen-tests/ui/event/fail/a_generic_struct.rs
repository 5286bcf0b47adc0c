//! An event with a type parameter.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent<T> {
    id: T,
}

fn main() {}
