//! An attribute without parentheses.

use es_framework::prelude::*;

#[derive(State)]
#[serde = "tag"]
struct Book {
    copies: u32,
}

fn main() {}
