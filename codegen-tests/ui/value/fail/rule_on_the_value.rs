//! A rule for all of a value.

use es_framework::prelude::*;

#[derive(Value)]
#[validate(text(max = 5))]
struct Isbn(String);

fn main() {}
