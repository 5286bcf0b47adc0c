//! A role that is no text.

use es_framework::prelude::*;

#[derive(Query)]
#[query(path = "/books/{id}", role = staff)]
struct FindCopy {
    id: Uuid,
}

fn main() {}
