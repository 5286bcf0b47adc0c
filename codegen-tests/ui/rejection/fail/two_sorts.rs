//! A refusal of two sorts.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict, gone)]
    CopyIsLent,
}

fn main() {}
