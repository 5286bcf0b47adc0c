#[reaction(name = "a name")]
impl LoanReminder {
    #[deadline(unless(BookReturnedEvent))]
    fn remind(&self, event: &BookBorrowedEvent) -> RemindReaderCommand {
        RemindReaderCommand { id: event.id }
    }
}
