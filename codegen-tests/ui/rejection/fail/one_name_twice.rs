//! Two refusals of one name.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict)]
    CopyIsLent,
    #[rejection(gone, name = "copy-is-lent")]
    CopyIsGone,
}

fn main() {}
