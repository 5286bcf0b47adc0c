//! Two fields that are one member of the JSON.

use es_framework::prelude::*;

#[derive(State)]
struct Book {
    due_at: Timestamp,
    #[serde(rename = "dueAt")]
    due: Timestamp,
}

fn main() {}
