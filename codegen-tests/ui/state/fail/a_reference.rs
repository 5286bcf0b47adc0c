//! A state borrows nothing, not even for ever.

use es_framework::prelude::*;

#[derive(State)]
struct Book {
    title: &'static str,
}

fn main() {}
