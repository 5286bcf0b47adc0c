#[upcast]
async fn pages_became_a_number(old: &BookPurchasedV1, today: Date) -> BookPurchasedEvent {}
