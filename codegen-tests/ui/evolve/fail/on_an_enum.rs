//! The attribute stands above the state instead of its `impl`.

use es_framework::prelude::*;

#[evolve]
#[derive(State)]
enum Book {
    Available,
}

fn main() {}
