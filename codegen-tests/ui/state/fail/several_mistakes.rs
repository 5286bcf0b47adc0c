//! All mistakes of one state are reported at once.

use es_framework::prelude::*;

#[derive(State)]
#[serde(rename_all = "UPPERCASE", untagged)]
enum Book<T> {
    Lent { reader: &'static str, until: T },
    Zurückgestellt,
}

fn main() {}
