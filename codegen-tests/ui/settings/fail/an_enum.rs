//! Settings are all there at once.

use es_framework::prelude::*;

#[derive(Settings)]
enum Lending {
    Days,
}

fn main() {}
