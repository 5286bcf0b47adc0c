//! Anyone browses the titles, whatever the number of their copies.

use es_framework::{
    prelude::*,
    projection::{Cell, Sql},
};

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
        AND (?1 IS NULL OR instr(es_lower_isbn, ?1) > 0)
        AND (?2 IS NULL OR instr(es_lower_title, ?2) > 0)
        AND (?3 IS NULL OR instr(es_lower_author, ?3) > 0)
        AND (?4 IS NULL OR (title, author, isbn) > (?4 ->> 0, ?4 ->> 1, ?4 ->> 2))
    GROUP BY title, author, isbn
    ORDER BY title, author, isbn
    LIMIT ?5",
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
        AND ($1::text IS NULL OR strpos(es_lower_isbn, $1) > 0)
        AND ($2::text IS NULL OR strpos(es_lower_title, $2) > 0)
        AND ($3::text IS NULL OR strpos(es_lower_author, $3) > 0)
        AND ($4::json IS NULL
            OR (title, author, isbn) > ($4::json ->> 0, $4::json ->> 1, $4::json ->> 2))
    GROUP BY title, author, isbn
    ORDER BY title, author, isbn
    LIMIT $5",
};

impl Answer for BrowseCatalog {
    type Answer = Page<Title>;

    async fn answer(self, reading: &Reading<'_>) -> Result<Page<Title>, QueryError> {
        let parts = [self.isbn, self.title, self.author];
        let parts =
            parts.map(|part| part.map_or(Cell::Null, |text| Cell::Text(text.to_lowercase())));
        let order = |title: &Title| [&title.title, &title.author, &title.isbn].map(Clone::clone);
        reading.page(TITLES, parts.into(), order).await
    }
}
