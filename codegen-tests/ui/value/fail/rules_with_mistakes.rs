//! All mistakes are told at once.

use es_framework::prelude::*;

#[derive(Value)]
struct Line {
    #[validate(txt(max = 5))]
    isbn: String,
    #[validate(range())]
    copies: u8,
}

fn main() {}
