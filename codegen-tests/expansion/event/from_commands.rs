/// A copy of a book was added to the inventory.
#[derive(Event)]
#[event(from(PurchaseBookCommand, donate::DonateBookCommand))]
pub struct BookAddedEvent {
    pub id: Uuid,
    pub title: String,
}
