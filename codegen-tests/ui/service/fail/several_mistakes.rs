//! All mistakes of one service are reported at once.

use es_framework::prelude::*;

#[derive(Service)]
#[es(carte = "::es_framework")]
struct Rates<T> {
    rates: Vec<T>,
}

fn main() {}
