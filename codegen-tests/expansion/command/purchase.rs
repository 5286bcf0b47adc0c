/// Adds a new copy of a book
/// to the inventory.
///
/// Each copy has an identity of its own.
#[derive(Command)]
#[command(subject = "/books/{id}", condition = pristine)]
pub struct PurchaseBookCommand {
    /// The copy.
    pub id: Uuid,
    #[validate(text(max = 32), characters("0123456789-X"))]
    pub isbn: String,
    #[validate(range(min = 1))]
    pub num_pages: i64,
    #[serde(rename = "by", default)]
    pub purchased_by: Option<String>,
}
