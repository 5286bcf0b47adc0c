//! Staff purchase a copy of a book.

use es_framework::prelude::*;

/// Adds a new copy of a book to the inventory.
#[derive(Command)]
#[command(subject = "/books/{id}", condition = pristine, role = "staff")]
pub struct PurchaseBookCommand {
    pub id: Uuid,
    #[validate(text(max = 32), characters("0123456789Xx- "))]
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
pub struct BookPurchasedEvent {
    pub id: Uuid,
    pub isbn: String,
    pub title: String,
    pub author: String,
    pub num_pages: i64,
}

#[handler]
fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
    BookPurchasedEvent {
        id: command.id,
        isbn: command.isbn,
        title: command.title,
        author: command.author,
        num_pages: command.num_pages,
    }
}
