//! A flattened field whose type does not say which members it has.

use std::ops::Range;

use es_framework::prelude::*;

#[derive(Value)]
struct Shelf {
    name: String,
    #[serde(flatten)]
    numbers: Range<u8>,
}

#[derive(Value)]
#[serde(tag = "kind")]
enum Place {
    Numbered(Range<u8>),
}

fn main() {}
