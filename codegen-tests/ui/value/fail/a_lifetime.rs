//! A value borrows nothing.

use es_framework::prelude::*;

#[derive(Value)]
struct Price<'a> {
    currency: &'a str,
}

fn main() {}
