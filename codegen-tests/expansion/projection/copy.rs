#[projection]
impl BookCopy {
    /// A new copy.
    fn purchased(event: &BookPurchasedEvent) -> Self {
        Self { id: event.id }
    }

    fn borrowed(&mut self, event: BookBorrowedEvent, recorded: &RecordedEvent) {
        self.reader = Some(event.reader);
    }

    fn removed(self, _: &BookRemovedEvent) -> Option<Self> {
        None
    }

    #[key(book)]
    fn renamed(self, event: &TitleCorrectedEvent) -> Self {
        self
    }

    #[key(book)]
    fn counted(row: Option<Self>, event: &LoanOpenedEvent) -> Option<Self> {
        row
    }
}
