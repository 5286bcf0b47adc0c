//! A command that is a union.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
union BookCommand {
    id: u64,
    isbn: u64,
}

fn main() {}
