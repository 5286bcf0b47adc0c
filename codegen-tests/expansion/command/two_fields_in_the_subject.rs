#[derive(Command)]
#[command(
    subject = "/shelves/{shelf_id}/books/{id}",
    path = "/shelves/{shelf_id}/place",
    condition = exists,
    summary = "Puts a copy on a shelf."
)]
struct PlaceBook {
    shelf_id: String,
    id: Uuid,
}
