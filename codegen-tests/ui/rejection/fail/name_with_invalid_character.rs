//! A name that is not in kebab-case.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict, name = "CopyIsLent")]
    CopyIsLent,
}

fn main() {}
