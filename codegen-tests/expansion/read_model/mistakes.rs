#[derive(ReadModel)]
#[read_model(table = "Books", subject = "/books/{isbn}")]
struct BookCopy {
    #[key]
    id: Uuid,
    es_place: i64,
}
