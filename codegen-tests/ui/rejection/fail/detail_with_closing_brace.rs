//! A sentence with a brace too many at the end.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict, detail = "lent until due_at}")]
    CopyIsLent { due_at: String },
}

fn main() {}
