#[handler]
async fn borrow(command: BorrowBookCommand, #[subject] book: &Book) -> BookBorrowedEvent {
    todo!()
}
