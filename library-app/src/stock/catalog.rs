//! Anyone browses the titles, whatever the number of their copies.

use es_framework::{
    prelude::*,
    projection::{Cell, Sql},
};

/// Browses the titles, each with the copies that can be borrowed now.
#[derive(Query)]
#[query(path = "/books/catalog")]
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
    GROUP BY isbn, title, author
    ORDER BY title, author, isbn
    LIMIT 1000",
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
    GROUP BY isbn, title, author
    ORDER BY title, author, isbn
    LIMIT 1000",
};

impl Answer for BrowseCatalog {
    type Answer = Vec<Title>;

    async fn answer(self, reading: &Reading<'_>) -> Result<Vec<Title>, QueryError> {
        let parts = [self.isbn, self.title, self.author];
        let parts =
            parts.map(|part| part.map_or(Cell::Null, |text| Cell::Text(text.to_lowercase())));
        reading.sql(TITLES, parts.into()).await
    }
}
