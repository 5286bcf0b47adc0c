#[derive(Event)]
#[event(version = 2)]
pub struct BookPurchasedEvent {
    #[serde(alias = "pages", default)]
    num_pages: i64,
}
