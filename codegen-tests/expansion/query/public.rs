#[derive(Query)]
#[query(path = "/books/{id}", row = BookCopy, role = public)]
struct FindCopy {
    id: Uuid,
}
