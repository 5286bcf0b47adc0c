//! A list has no flag yet.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    branches: Vec<String>,
}

fn main() {}
