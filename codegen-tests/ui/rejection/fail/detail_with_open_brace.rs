//! A sentence with a brace too many.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict, detail = "lent until {due_at")]
    CopyIsLent { due_at: String },
}

fn main() {}
