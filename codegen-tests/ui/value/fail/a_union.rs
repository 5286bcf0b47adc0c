//! A union has no JSON.

use es_framework::prelude::*;

#[derive(Value)]
union Price {
    cents: u32,
    euros: u32,
}

fn main() {}
