//! A part of an attribute that cannot be parsed hides no other mistake.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/books/{idd}", condition pristine, roel = "staff", = 1)]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(text(max = 3) email, rnage(min = 1))]
    title: String,
    #[validate(txt(max = 9))]
    #[serde(renmae = "name")]
    author: String,
}

fn main() {}
