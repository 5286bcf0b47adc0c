#[derive(Event)]
#[event(package = "com.example.stock", name = "Bought.v2", read_model = "books")]
struct BookPurchasedEvent {
    id: Uuid,
    #[serde(rename = "pages")]
    num_pages: Option<i64>,
}
