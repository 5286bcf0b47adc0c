//! Anyone browses the titles, whatever the number of their copies.

use es_framework::{prelude::*, projection::Sql};

use super::copy::BookCopy;

/// Browses the titles, each with the copies that can be borrowed now.
#[derive(Query)]
#[query(path = "/books/catalog", paged)]
pub struct BrowseCatalog {
    pub isbn: Option<String>,
    pub title: Option<String>,
    pub author: Option<String>,
}

/// A title and its copies.
#[derive(Debug, PartialEq, Value)]
pub struct Title {
    pub isbn: String,
    pub title: String,
    pub author: String,
    pub available: Vec<Uuid>,
    pub total: u64,
}

const TITLES: Sql = Sql {
    sqlite: "
    SELECT json_object(
        'isbn', isbn,
        'title', title,
        'author', author,
        'available', json_group_array(id ORDER BY es_place) FILTER (WHERE status = 'available'),
        'total', count(*)
    )
    FROM book_copies
    WHERE status <> 'removed'
        AND {rows}
        AND (?1 IS NULL OR (title, author, isbn) > (?1 ->> 0, ?1 ->> 1, ?1 ->> 2))
    GROUP BY title, author, isbn
    ORDER BY title, author, isbn
    LIMIT ?2",
    postgres: "
    SELECT json_build_object(
        'isbn', isbn,
        'title', title,
        'author', author,
        'available', coalesce(json_agg(id ORDER BY es_place) FILTER (WHERE status = 'available'), '[]'),
        'total', count(*)
    )::text
    FROM book_copies
    WHERE status <> 'removed'
        AND {rows}
        AND ($1::json IS NULL
            OR (title, author, isbn) > ($1::json ->> 0, $1::json ->> 1, $1::json ->> 2))
    GROUP BY title, author, isbn
    ORDER BY title, author, isbn
    LIMIT $2",
};

impl QueryHandler for BrowseCatalog {
    type Output = Page<Title>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Page<Title>, QueryError> {
        let mut copies = context.rows::<BookCopy>();
        for (column, part) in [
            ("isbn", self.isbn),
            ("title", self.title),
            ("author", self.author),
        ] {
            if let Some(part) = part {
                copies = copies.contains(column, &part);
            }
        }
        let order = |title: &Title| [&title.title, &title.author, &title.isbn].map(Clone::clone);
        let found = context.among(copies).await?;
        found.page(TITLES, vec![], order).await
    }
}
