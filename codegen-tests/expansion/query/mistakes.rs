#[derive(Query)]
#[query(path = "/books/{isbn}", rows = "BookCopy")]
struct BrowseStock {
    title: Option<String>,
    #[filter(like)]
    author: Option<String>,
    limit: Option<i64>,
}
