#[handler]
fn borrow(
    book: &Book,
    #[subject("/readers/{reader}")] reader: Option<&Reader>,
    command: BorrowBookCommand,
    lending: &Lending,
    clock: &Clock,
) -> Result<Decision<(BookBorrowedEvent, LoanOpenedEvent), Loan>, LendingError> {
    lend(book, reader, command, lending.due_at(clock.now()))
}
