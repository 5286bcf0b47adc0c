//! A command that is an enum.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
enum BookCommand {
    Purchase { id: Uuid },
    Remove { id: Uuid },
}

fn main() {}
