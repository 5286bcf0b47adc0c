#[evolve]
impl Book {
    fn purchased(_: &BookPurchasedEvent) -> Self {
        Book::Available
    }

    fn borrowed(&mut self, event: BookBorrowedEvent) {
        *self = Book::Lent { reader: event.reader };
    }

    fn returned(self, _: &BookReturnedEvent) -> Self {
        Book::Available
    }

    fn removed(self, event: &BookRemovedEvent) -> Option<Self> {
        event.is_final.then_some(self)
    }
}
