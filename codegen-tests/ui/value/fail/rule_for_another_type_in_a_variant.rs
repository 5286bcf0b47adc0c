//! A rule for numbers above a text.

use es_framework::prelude::*;

#[derive(Value)]
enum Delivery {
    Collected,
    Sent(#[validate(range(min = 1))] String),
}

fn main() {}
