//! A loan that is open: one row for each copy that a reader holds.

use es_framework::prelude::*;

use super::{LoanClosedEvent, LoanOpenedEvent};

/// A reader holds a copy.
#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "open_loans")]
pub struct OpenLoan {
    #[key]
    pub book: Uuid,
    #[index]
    pub reader: Uuid,
    #[index]
    pub due_at: Timestamp,
}

#[projection]
impl OpenLoan {
    #[key(book)]
    fn opened(event: &LoanOpenedEvent) -> Self {
        Self {
            book: event.book,
            reader: event.reader,
            due_at: event.due_at,
        }
    }

    #[key(book)]
    fn closed(self, _: &LoanClosedEvent) -> Option<Self> {
        None
    }
}
