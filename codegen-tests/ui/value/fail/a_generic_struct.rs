//! A value is of one type.

use es_framework::prelude::*;

#[derive(Value)]
struct Price<T> {
    cents: T,
}

fn main() {}
