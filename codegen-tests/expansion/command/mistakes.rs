#[derive(Command)]
#[command(subject = "books/{id}", condition = pristin, pth = "/books")]
struct PurchaseBookCommand {
    id: Uuid,
}
