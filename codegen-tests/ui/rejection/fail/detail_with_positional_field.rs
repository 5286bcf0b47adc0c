//! A sentence that does not name the field that it shows.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict, detail = "lent until {}")]
    CopyIsLent { due_at: String },
}

fn main() {}
