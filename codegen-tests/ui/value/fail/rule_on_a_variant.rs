//! A rule for all of a variant.

use es_framework::prelude::*;

#[derive(Value)]
enum Delivery {
    Collected,
    #[validate(text(max = 5))]
    Sent(String),
}

fn main() {}
