//! All mistakes of one value are reported at once.

use es_framework::prelude::*;

#[derive(Value)]
#[serde(rename_all = "UPPERCASE", deny_unknown_fields)]
struct Price<T> {
    währung: &'static str,
    amount: T,
}

fn main() {}
