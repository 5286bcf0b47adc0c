//! A name that nobody can type.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    läuft: u32,
}

fn main() {}
