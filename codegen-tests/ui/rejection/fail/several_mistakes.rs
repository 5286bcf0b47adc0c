//! All mistakes of one rejection are reported at once.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    CopyIsLent(String),
    #[rejection(gone, conflict, detail = "{who}")]
    CopyRemoved,
    #[rejection(forbiden, nmae = "x")]
    Forbidden,
}

fn main() {}
