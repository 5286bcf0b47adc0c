#[derive(Query)]
#[query(path = "/books/{id}", row = BookCopy)]
struct FindCopy {
    id: Uuid,
}
