//! The public events about loans.

use es_framework::prelude::*;

use super::LoanOverdueEvent;
use crate::book::{CopyOfBook, PrintedBook};

/// A copy is not back in time.
#[derive(Debug, PartialEq, PublicEvent)]
pub struct LoanOverdue {
    pub copy: CopyOfBook,
    pub due_at: Timestamp,
}

#[publish]
fn loan_overdue(event: &LoanOverdueEvent, book: &PrintedBook) -> LoanOverdue {
    LoanOverdue {
        copy: book.copy(event.id),
        due_at: event.due_at,
    }
}

#[cfg(test)]
mod tests {
    use es_framework::testing::given;

    use super::*;
    use crate::book::{BookPurchasedEvent, CopyPurchased};

    #[test]
    fn a_loan_that_is_overdue_is_published_without_its_reader() {
        let id = Uuid::from_u128(1);
        let due_at = "2026-07-29T12:00:00Z".parse().unwrap();
        let purchased = BookPurchasedEvent {
            id,
            isbn: "978-0261103573".into(),
            title: "The Fellowship of the Ring".into(),
            author: "J. R. R. Tolkien".into(),
            num_pages: 423,
        };
        let overdue = LoanOverdueEvent {
            id,
            reader: Uuid::from_u128(100),
            due_at,
        };
        let copy = CopyOfBook {
            id,
            isbn: "978-0261103573".into(),
            title: "The Fellowship of the Ring".into(),
        };
        given()
            .event_on("/books/1", purchased)
            .event_on("/books/1", overdue)
            .then_published((
                CopyPurchased {
                    copy: copy.clone(),
                    author: "J. R. R. Tolkien".into(),
                    num_pages: 423,
                },
                LoanOverdue { copy, due_at },
            ));
    }
}
