//! A sentence that shows a field that is not there.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict, detail = "lent until {dueat}")]
    CopyIsLent { due_at: String },
}

fn main() {}
