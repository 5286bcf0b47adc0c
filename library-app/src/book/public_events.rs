//! The public events about copies. They do not say who reads what.

use es_framework::prelude::*;

use super::{Book, BookBorrowedEvent, BookPurchasedEvent, BookRemovedEvent, BookReturnedEvent};
use crate::reservation::CopyPutBackEvent;

/// A copy with its book.
#[derive(Debug, Clone, PartialEq, Value)]
pub struct CopyOfBook {
    pub id: Uuid,
    pub isbn: String,
    pub title: String,
}

/// The book that a copy is of.
#[derive(Debug, PartialEq, State)]
pub struct PrintedBook {
    pub isbn: String,
    pub title: String,
}

#[evolve]
impl PrintedBook {
    fn purchased(event: &BookPurchasedEvent) -> Self {
        Self {
            isbn: event.isbn.clone(),
            title: event.title.clone(),
        }
    }
}

impl PrintedBook {
    pub fn copy(&self, id: Uuid) -> CopyOfBook {
        CopyOfBook {
            id,
            isbn: self.isbn.clone(),
            title: self.title.clone(),
        }
    }
}

/// A copy was added to the inventory.
#[derive(Debug, PartialEq, PublicEvent)]
pub struct CopyPurchased {
    pub copy: CopyOfBook,
    pub author: String,
    pub num_pages: i64,
}

#[publish]
fn copy_purchased(event: &BookPurchasedEvent, book: &PrintedBook) -> CopyPurchased {
    CopyPurchased {
        copy: book.copy(event.id),
        author: event.author.clone(),
        num_pages: event.num_pages,
    }
}

/// A copy was lent.
#[derive(Debug, PartialEq, PublicEvent)]
pub struct CopyLent {
    pub copy: CopyOfBook,
    pub due_at: Timestamp,
}

#[publish]
fn copy_lent(event: &BookBorrowedEvent, book: &PrintedBook) -> CopyLent {
    CopyLent {
        copy: book.copy(event.id),
        due_at: event.due_at,
    }
}

/// A copy is in the library again. If somebody has reserved its title, it is set aside next.
#[derive(Debug, PartialEq, PublicEvent)]
pub struct CopyAvailable {
    pub copy: CopyOfBook,
}

#[publish]
fn copy_returned(event: &BookReturnedEvent, book: &PrintedBook) -> CopyAvailable {
    CopyAvailable {
        copy: book.copy(event.id),
    }
}

/// A copy that its reader has borrowed is not available, although it is set aside no longer.
#[publish]
fn copy_put_back(
    event: &CopyPutBackEvent,
    state: &Book,
    book: &PrintedBook,
) -> Option<CopyAvailable> {
    (*state == Book::Available).then(|| CopyAvailable {
        copy: book.copy(event.id),
    })
}

/// A copy was taken out of the inventory.
#[derive(Debug, PartialEq, PublicEvent)]
pub struct CopyRemoved {
    pub copy: CopyOfBook,
}

#[publish]
fn copy_removed(event: &BookRemovedEvent, book: &PrintedBook) -> CopyRemoved {
    CopyRemoved {
        copy: book.copy(event.id),
    }
}

#[cfg(test)]
mod tests {
    use es_framework::testing::{Scenario, given};

    use super::*;
    use crate::reservation::CopySetAsideEvent;

    const COPY: &str = "/books/00000000-0000-0000-0000-000000000001";
    const ID: Uuid = Uuid::from_u128(1);
    const READER: Uuid = Uuid::from_u128(100);

    fn due_at() -> Timestamp {
        "2026-07-29T12:00:00Z".parse().unwrap()
    }

    fn purchased() -> Scenario {
        let event = BookPurchasedEvent {
            id: ID,
            isbn: "978-0261103573".into(),
            title: "The Fellowship of the Ring".into(),
            author: "J. R. R. Tolkien".into(),
            num_pages: 423,
        };
        given().event_on(COPY, event)
    }

    fn borrowed() -> Scenario {
        let event = BookBorrowedEvent {
            id: ID,
            reader: READER,
            due_at: due_at(),
        };
        purchased().event_on(COPY, event)
    }

    fn copy() -> CopyOfBook {
        CopyOfBook {
            id: ID,
            isbn: "978-0261103573".into(),
            title: "The Fellowship of the Ring".into(),
        }
    }

    fn copy_purchased() -> CopyPurchased {
        CopyPurchased {
            copy: copy(),
            author: "J. R. R. Tolkien".into(),
            num_pages: 423,
        }
    }

    fn copy_lent() -> CopyLent {
        CopyLent {
            copy: copy(),
            due_at: due_at(),
        }
    }

    #[test]
    fn a_copy_that_is_lent_and_comes_back_is_published() {
        let returned = BookReturnedEvent {
            id: ID,
            reader: READER,
            late_fee_cents: 50,
        };
        borrowed().event_on(COPY, returned).then_published((
            copy_purchased(),
            copy_lent(),
            CopyAvailable { copy: copy() },
        ));
    }

    #[test]
    fn a_copy_that_is_removed_is_published_without_the_reason() {
        let reason = "A reader spilt coffee over it.".into();
        purchased()
            .event_on(COPY, BookRemovedEvent { id: ID, reason })
            .then_published((copy_purchased(), CopyRemoved { copy: copy() }));
    }

    #[test]
    fn a_copy_that_nobody_wants_any_more_is_available() {
        let (id, reader) = (ID, READER);
        purchased()
            .event(CopySetAsideEvent {
                id,
                reader,
                until: due_at(),
            })
            .event(CopyPutBackEvent { id, reader })
            .then_published((copy_purchased(), CopyAvailable { copy: copy() }));
    }

    #[test]
    fn a_copy_that_its_reader_has_borrowed_is_not_available() {
        let (id, reader) = (ID, READER);
        borrowed()
            .event(CopyPutBackEvent { id, reader })
            .then_published((copy_purchased(), copy_lent()));
    }
}
