//! Two fields of one name in JSON.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    num_pages: i64,
    #[serde(rename = "numPages")]
    pages: i64,
}

fn main() {}
