//! A field that cannot be shown in the sentence.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict, detail = "lent to {reader}")]
    CopyIsLent { reader: Reader },
}

#[derive(Debug)]
struct Reader;

fn main() {}
