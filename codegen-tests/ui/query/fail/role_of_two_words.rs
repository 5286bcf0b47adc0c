//! A role that is two words.

use es_framework::prelude::*;

#[derive(Query)]
#[query(path = "/books/{id}", role = "staff, reader")]
struct FindCopy {
    id: Uuid,
}

fn main() {}
