//! The application of these tests: copies of books that are purchased, lent and returned.

use es_framework::prelude::*;

/// Adds a new copy of a book to the inventory.
#[derive(Command)]
#[command(subject = "/books/{id}", condition = pristine)]
struct PurchaseBookCommand {
    id: Uuid,
    #[validate(text(max = 32), pattern("^[0-9Xx -]+$"))]
    isbn: String,
    #[validate(text(max = 500))]
    title: String,
    #[validate(text(max = 500))]
    author: String,
    #[validate(range(min = 1))]
    num_pages: i64,
}

/// A copy of a book was added to the inventory.
#[derive(Event)]
#[event(from = PurchaseBookCommand)]
struct BookPurchasedEvent {
    id: Uuid,
    isbn: String,
    title: String,
    author: String,
    num_pages: i64,
}

#[handler]
fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent;

/// Lends a copy to a reader.
#[derive(Command)]
#[command(subject = "/books/{id}", path = "/books/{id}/borrow")]
struct BorrowBookCommand {
    id: Uuid,
    reader: Uuid,
}

/// A copy was lent to a reader.
#[derive(Event)]
struct BookBorrowedEvent {
    id: Uuid,
    reader: Uuid,
}

/// The state of a copy.
#[derive(State)]
enum Book {
    Available,
    Lent,
}

#[evolve]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Self::Available
    }

    fn borrowed(&mut self, _: &BookBorrowedEvent) {
        *self = Self::Lent;
    }

    fn returned(&mut self, _: &BookReturnedEvent) {
        *self = Self::Available;
    }
}

/// The reasons why a copy is neither lent nor taken back.
#[derive(Debug, Rejection)]
enum LendingError {
    /// The copy is lent
    #[rejection(conflict)]
    CopyLent,
    /// The copy is not lent
    #[rejection(conflict)]
    CopyNotLent,
}

#[handler]
fn borrow(book: &Book, command: BorrowBookCommand) -> Result<BookBorrowedEvent, LendingError> {
    match book {
        Book::Available => Ok(BookBorrowedEvent {
            id: command.id,
            reader: command.reader,
        }),
        Book::Lent => Err(LendingError::CopyLent),
    }
}

/// Takes a copy back.
#[derive(Command)]
#[command(subject = "/books/{id}", path = "/books/{id}/return")]
struct ReturnBookCommand {
    id: Uuid,
}

/// A copy came back.
#[derive(Event)]
struct BookReturnedEvent {}

#[handler]
fn return_book(book: &Book, _: ReturnBookCommand) -> Result<BookReturnedEvent, LendingError> {
    match book {
        Book::Lent => Ok(BookReturnedEvent {}),
        Book::Available => Err(LendingError::CopyNotLent),
    }
}

/// A copy is in the inventory.
#[derive(PublicEvent)]
struct CopyPurchased {
    id: Uuid,
    title: String,
}

#[publish]
fn copy_purchased(event: &BookPurchasedEvent) -> CopyPurchased {
    CopyPurchased {
        id: event.id,
        title: event.title.clone(),
    }
}

/// A copy is lent. Nobody learns to whom.
#[derive(PublicEvent)]
struct CopyLent {
    id: Uuid,
}

#[publish]
fn copy_lent(event: &BookBorrowedEvent) -> CopyLent {
    CopyLent { id: event.id }
}

/// Reports a loan. The report has a subject of its own, so it is no change of the copy.
#[derive(Command)]
#[command(subject = "/reports/{id}", internal)]
struct ReportLoanCommand {
    id: Uuid,
}

/// A loan was reported.
#[derive(Event)]
#[event(informational)]
struct LoanReportedEvent {}

#[handler]
fn report_loan(_: ReportLoanCommand) -> LoanReportedEvent {
    LoanReportedEvent {}
}

/// Reports each loan.
struct LoanReporter;

#[reaction]
impl LoanReporter {
    fn report(event: &BookBorrowedEvent) -> ReportLoanCommand {
        ReportLoanCommand { id: event.id }
    }
}

/// A copy of a book.
#[derive(ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}")]
struct BookCopy {
    #[key]
    id: Uuid,
    isbn: String,
    title: String,
    author: String,
    num_pages: i64,
    is_lent: bool,
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
            is_lent: false,
        }
    }

    fn borrowed(&mut self, _: &BookBorrowedEvent) {
        self.is_lent = true;
    }

    fn returned(&mut self, _: &BookReturnedEvent) {
        self.is_lent = false;
    }
}

/// Browses the stock.
#[derive(Query)]
#[query(path = "/books", rows = BookCopy)]
struct BrowseStock {
    #[filter(contains)]
    isbn: Option<String>,
    #[filter(contains)]
    title: Option<String>,
    #[filter(contains)]
    author: Option<String>,
    #[filter(eq)]
    is_lent: Option<bool>,
}

/// Shows one copy.
#[derive(Query)]
#[query(path = "/books/{id}", row = BookCopy)]
struct FindCopy {
    id: Uuid,
}

/// Lists the copies with a number of pages.
#[derive(Query)]
#[query(path = "/lengths/{num_pages}/books", rows = BookCopy)]
struct ListCopiesOfLength {
    num_pages: i64,
}

/// Shows a copy if it has a number of pages.
#[derive(Query)]
#[query(path = "/lengths/{num_pages}/books/{id}", row = BookCopy)]
struct FindCopyOfLength {
    num_pages: i64,
    id: Uuid,
}

/// Counts the copies with a number of pages.
#[derive(Query)]
#[query(path = "/lengths/{num_pages}/count")]
struct CountCopiesOfLength {
    num_pages: i64,
}

#[query_handler]
async fn count_copies(
    query: CountCopiesOfLength,
    context: &QueryContext<'_>,
) -> Result<u64, QueryError> {
    let rows = context.rows::<BookCopy>();
    let rows = rows.filter(BookCopy::num_pages().eq(&query.num_pages));
    rows.aggregate(BookCopy::id().count()).await
}
