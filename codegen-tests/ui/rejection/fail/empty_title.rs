//! A title that says nothing.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict, title = " ")]
    CopyIsLent,
}

fn main() {}
