/// A copy of a book.
#[derive(ReadModel)]
#[read_model(table = "book_copies", subject = "/books/{id}", version = 2)]
struct BookCopy {
    #[key]
    id: Uuid,
    #[search(alphanumeric)]
    isbn: String,
    num_pages: i64,
    #[serde(rename = "back")]
    due_at: Option<Timestamp>,
}
