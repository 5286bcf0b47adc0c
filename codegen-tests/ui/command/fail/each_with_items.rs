//! A rule for lists on the items of one.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(each(items(max = 9)))]
    value: Vec<Vec<String>>,
}

fn main() {}
