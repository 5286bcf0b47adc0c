#[projection]
impl BookCopy {
    #[each(copies)]
    #[key(id)]
    fn delivered(copy: &DeliveredCopy, event: &BooksDeliveredEvent) -> Self {
        Self { id: copy.id }
    }

    #[each(books)]
    fn moved(&mut self, book: &Uuid, event: &BooksMovedEvent, recorded: &RecordedEvent) {
        self.shelf = event.shelf;
    }
}
