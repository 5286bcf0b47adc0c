/// One row a title.
#[derive(Query)]
#[query(path = "/books/catalog")]
struct BrowseCatalog {
    title: Option<String>,
}
