//! A field without a name is no flag.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending(u32);

fn main() {}
