//! A row of nothing.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", read_model = "books")]
struct BookPurchasedEvent {}

fn main() {}
