//! The attribute stands above the state instead of its `impl`.

use es_framework::prelude::*;

#[evolve]
#[derive(State)]
struct Book {
    copies: u32,
}

fn main() {}
