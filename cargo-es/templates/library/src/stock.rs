//! The stock, as clients browse it.

use es_framework::prelude::*;

use crate::purchase_book::BookPurchasedEvent;

/// A copy in stock.
#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}")]
pub struct BookCopy {
    #[key]
    pub id: Uuid,
    pub title: String,
}

#[projection]
impl BookCopy {
    fn purchased(event: BookPurchasedEvent) -> Self {
        Self {
            id: event.id,
            title: event.title,
        }
    }
}

/// Browses the stock.
#[derive(Query)]
#[query(path = "/books", rows = BookCopy)]
pub struct BrowseStock {
    #[filter(contains)]
    pub title: Option<String>,
}

#[cfg(test)]
mod tests {
    use es_framework::testing::given;

    use super::*;

    #[test]
    fn a_purchased_copy_is_in_stock() {
        let id = Uuid::from_u128(1);
        let event = BookPurchasedEvent {
            id,
            title: "The Hobbit".into(),
            num_pages: 310,
        };
        let query = BrowseStock {
            title: Some("hobbit".into()),
        };
        let stock = given().event_on(&format!("/books/{id}"), event);
        let title = "The Hobbit".into();
        assert_eq!(stock.query(query).unwrap().items, [BookCopy { id, title }]);
    }
}
