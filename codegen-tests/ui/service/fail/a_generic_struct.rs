//! A service is found by its type.

use es_framework::prelude::*;

#[derive(Service)]
struct Rates<T> {
    rates: Vec<T>,
}

fn main() {}
