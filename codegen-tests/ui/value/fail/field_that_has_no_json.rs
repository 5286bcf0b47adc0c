//! A field of a type without JSON.

use es_framework::prelude::*;

struct Currency;

#[derive(Value)]
struct Price {
    currency: Currency,
}

fn main() {}
