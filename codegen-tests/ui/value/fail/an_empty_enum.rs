//! A value that can never be.

use es_framework::prelude::*;

#[derive(Value)]
enum Price {}

fn main() {}
