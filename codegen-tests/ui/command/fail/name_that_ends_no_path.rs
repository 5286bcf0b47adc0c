//! A verb that cannot stand in a path.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct ÄndereBuchCommand {
    id: Uuid,
}

fn main() {}
