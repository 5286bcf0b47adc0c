#[derive(Event)]
#[event(package = "library", read_model = "Books")]
struct BookPurchasedEvent {
    id: Uuid,
}
