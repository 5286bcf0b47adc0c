//! The attribute on a field.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict)]
    CopyIsLent {
        #[rejection(detail = "…")]
        due_at: String,
    },
}

fn main() {}
