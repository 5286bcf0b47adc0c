//! A sort that is given a value.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict = "lent")]
    CopyIsLent,
}

fn main() {}
