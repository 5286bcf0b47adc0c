//! A sentence with a width that is no number.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict, detail = "lent until {due_at:width$}")]
    CopyIsLent { due_at: String, width: usize },
}

fn main() {}
