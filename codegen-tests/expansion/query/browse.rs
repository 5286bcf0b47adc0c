/// Browses the stock.
#[derive(Query)]
#[query(path = "/shelves/{shelf}/books", rows = BookCopy, order = descending(due_at), sort = [title, due_at])]
struct BrowseStock {
    shelf: Uuid,
    #[filter(contains)]
    title: Option<String>,
    #[filter(one_of)]
    status: Vec<Status>,
    #[filter(at_least(num_pages))]
    min_pages: Option<i64>,
}
