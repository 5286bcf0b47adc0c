//! A value borrows nothing, not even for ever.

use es_framework::prelude::*;

#[derive(Value)]
struct Price {
    currency: &'static str,
}

fn main() {}
