#[derive(ReadModel)]
#[read_model(table = "open_loans", subject = "/books/{book}")]
struct OpenLoan {
    #[key]
    book: Uuid,
    #[visible(role = ["staff", "auditor"], owner)]
    reader: Option<Uuid>,
    #[visible(owner = reader)]
    due_at: Option<Timestamp>,
}
