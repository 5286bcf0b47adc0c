//! Staff purchase a copy of a book.

use es_framework::prelude::*;

/// Adds a new copy of a book to the inventory.
///
/// Example: `{"id": "5f0c8b1e-6c1d-4c39-9a6e-3f4b7a0d2c11", "isbn": "978-0-345-53943-1",
/// "title": "The Hobbit", "author": "J. R. R. Tolkien", "numPages": 310}`
#[derive(Command)]
#[command(subject = "/books/{id}", condition = pristine, role = "staff", backdate_role = "importer")]
pub struct PurchaseBookCommand {
    pub id: Uuid,
    #[validate(text(max = 32), pattern(r"^[Xx \-]*[0-9][0-9Xx \-]*$"))]
    pub isbn: String,
    #[validate(text(max = 500))]
    pub title: String,
    #[validate(text(max = 500))]
    pub author: String,
    #[validate(range(min = 1))]
    pub num_pages: i64,
}

/// A copy of a book was added to the inventory.
#[derive(Debug, PartialEq, Event)]
#[event(from = PurchaseBookCommand)]
pub struct BookPurchasedEvent {
    pub id: Uuid,
    pub isbn: String,
    pub title: String,
    pub author: String,
    pub num_pages: i64,
}

#[handler]
fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent;
