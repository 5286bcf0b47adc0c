//! A copy in stock: one row for each, folded from the copy's events.

use es_framework::prelude::*;

use crate::{
    book::{BookBorrowedEvent, BookPurchasedEvent, BookRemovedEvent, BookReturnedEvent},
    reservation::{CopyPutBackEvent, CopySetAsideEvent},
};

/// A copy of a book.
#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}")]
pub struct BookCopy {
    #[key]
    pub id: Uuid,
    #[search(alphanumeric)]
    pub isbn: String,
    pub title: String,
    pub author: String,
    pub num_pages: i64,
    pub status: CopyStatus,
    pub due_at: Option<Timestamp>,
    /// The reader who holds the copy, or for whom it is set aside.
    #[visible(role = "staff")]
    pub reader: Option<Uuid>,
}

/// The status of a copy.
#[derive(Debug, PartialEq, Value)]
pub enum CopyStatus {
    Available,
    Lent,
    SetAside,
    Removed,
}

#[projection]
impl BookCopy {
    fn purchased(event: BookPurchasedEvent) -> Self {
        Self {
            id: event.id,
            isbn: event.isbn,
            title: event.title,
            author: event.author,
            num_pages: event.num_pages,
            status: CopyStatus::Available,
            due_at: None,
            reader: None,
        }
    }

    fn borrowed(&mut self, event: &BookBorrowedEvent) {
        self.status = CopyStatus::Lent;
        self.due_at = Some(event.due_at);
        self.reader = Some(event.reader);
    }

    fn returned(&mut self, _: &BookReturnedEvent) {
        self.status = CopyStatus::Available;
        self.due_at = None;
        self.reader = None;
    }

    fn set_aside(&mut self, event: &CopySetAsideEvent) {
        self.status = CopyStatus::SetAside;
        self.reader = Some(event.reader);
    }

    fn put_back(&mut self, event: &CopyPutBackEvent) {
        if self.status == CopyStatus::SetAside && self.reader == Some(event.reader) {
            self.status = CopyStatus::Available;
            self.reader = None;
        }
    }

    fn removed(&mut self, _: &BookRemovedEvent) {
        self.status = CopyStatus::Removed;
        self.reader = None;
    }
}
