//! Types of the application that are called like those of std change nothing.

#![forbid(unsafe_code)]
#![deny(missing_docs, warnings)]

use ::es_framework::prelude::{Command, Event, handler};

/// Not the one of std.
pub struct Result;
/// Not the one of std.
pub struct Option;
/// Not the one of std.
pub struct Some;
/// Not the one of std.
pub struct None;
/// Not the one of std.
pub struct Vec;
/// Not the one of std.
pub struct Cow;
/// Not the one of std.
pub type String = ::std::string::String;
/// Not the ones of std.
pub mod core {}
/// Not the ones of std.
pub mod std {}
/// Not the framework.
pub mod es_framework {}
/// Not the one of serde.
pub trait Serialize {}
/// Not the one of serde.
pub trait Deserialize {}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    #[validate(text(max = 32))]
    id: String,
    #[validate(range(max = 9))]
    r#type: u8,
}

#[derive(Event)]
#[event(package = "com.example.library", read_model = "books")]
struct BookPurchasedEvent {
    id: String,
    r#type: u8,
}

#[handler]
fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
    let PurchaseBookCommand { id, r#type } = command;
    BookPurchasedEvent { id, r#type }
}
