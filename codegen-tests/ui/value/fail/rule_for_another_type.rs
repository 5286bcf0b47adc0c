//! A rule for texts above a number.

use es_framework::prelude::*;

#[derive(Value)]
struct Line {
    #[validate(text(max = 5))]
    copies: u8,
}

fn main() {}
