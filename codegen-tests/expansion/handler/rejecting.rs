#[handler]
fn borrow(BorrowBookCommand { id, .. }: BorrowBookCommand) -> Result<(BookBorrowedEvent, LoanOpenedEvent), LendingError> {
    lend(id)
}
