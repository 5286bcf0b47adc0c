//! Two fields in one column.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", read_model = "books")]
struct BookPurchasedEvent {
    num_pages: i64,
    #[serde(rename = "pages")]
    num__pages: i64,
}

fn main() {}
