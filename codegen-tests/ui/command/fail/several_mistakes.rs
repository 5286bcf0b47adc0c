//! All mistakes of one item are reported at once.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}", condition = exist, tabel = "books")]
struct BorrowBookCommand {
    isbn: String,
    #[validate(text, range(min = 2, max = 1))]
    reader: &'static str,
}

fn main() {}
