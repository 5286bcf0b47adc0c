#[projection]
impl BookCopy {
    #[key]
    fn purchased(event: &BookPurchasedEvent) -> Self {
        Self { id: event.id }
    }

    async fn borrowed(&self, event: &BookBorrowedEvent) {}
}
