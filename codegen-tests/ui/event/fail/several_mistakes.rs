//! All mistakes of one item are reported at once.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "library", read_model = "My books")]
struct BookPurchasedEvent {
    #[validate(text(max = 32))]
    isbn: &'static str,
}

fn main() {}
