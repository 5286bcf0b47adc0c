#[upcast]
fn pages_became_a_number(old: BookPurchasedV1) -> BookPurchasedEvent {
    BookPurchasedEvent { pages: old.pages.parse().unwrap_or_default() }
}
