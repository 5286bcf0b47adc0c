//! Staff purchase a copy of a book.

use es_framework::prelude::*;

/// Adds a new copy of a book to the inventory.
#[derive(Command)]
#[command(subject = "/books/{id}", condition = pristine)]
pub struct PurchaseBookCommand {
    pub id: Uuid,
    #[validate(text(max = 500))]
    pub title: String,
    #[validate(range(min = 1))]
    pub num_pages: i64,
}

/// A copy of a book was added to the inventory.
#[derive(Debug, PartialEq, Event)]
#[event(from = PurchaseBookCommand)]
pub struct BookPurchasedEvent {
    pub id: Uuid,
    pub title: String,
    pub num_pages: i64,
}

#[handler]
fn purchase_book(command: PurchaseBookCommand) -> BookPurchasedEvent;

#[cfg(test)]
mod tests {
    use es_framework::testing::given;

    use super::*;

    fn command() -> PurchaseBookCommand {
        PurchaseBookCommand {
            id: Uuid::from_u128(1),
            title: "The Hobbit".into(),
            num_pages: 310,
        }
    }

    fn purchased() -> BookPurchasedEvent {
        command().into()
    }

    #[test]
    fn a_copy_is_purchased_once() {
        given().when(command()).then(purchased());
        given()
            .event(purchased())
            .when(command())
            .then_already_exists();
    }

    #[test]
    fn a_book_has_a_title_and_pages() {
        let command = PurchaseBookCommand {
            title: " ".into(),
            num_pages: 0,
            ..command()
        };
        given().when(command).then_invalid(["/title", "/numPages"]);
    }
}
