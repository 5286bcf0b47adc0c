/// A copy was added to the inventory.
#[derive(Event)]
pub struct BookPurchasedEvent {
    /// The copy.
    pub id: Uuid,
    pub num_pages: i64,
}
