//! A field that a snapshot cannot keep.

use es_framework::prelude::*;

struct Shelf;

#[derive(State)]
struct Book {
    shelf: Shelf,
}

fn main() {}
