//! The catalog: each title once, with all its copies.

use es_framework::{prelude::*, query::Group};

use super::copy::{BookCopy, CopyStatus};

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

impl Title {
    fn from_copies(copies: Group<[String; 3], Vec<Uuid>>) -> Self {
        let [title, author, isbn] = copies.key;
        Self {
            isbn,
            title,
            author,
            available: copies.values,
            total: copies.count,
        }
    }
}

impl QueryHandler for BrowseCatalog {
    type Output = Page<Title>;

    const READ_MODELS: &'static [&'static str] = &[BookCopy::TABLE];

    async fn handle(self, context: &QueryContext<'_>) -> Result<Page<Title>, QueryError> {
        let mut copies = context
            .rows::<BookCopy>()
            .filter(BookCopy::status().ne(&CopyStatus::Removed));
        for (column, substring) in [
            (BookCopy::isbn(), self.isbn),
            (BookCopy::title(), self.title),
            (BookCopy::author(), self.author),
        ] {
            if let Some(substring) = substring {
                copies = copies.filter(column.contains(&substring));
            }
        }
        let is_available = BookCopy::status().eq(&CopyStatus::Available);
        let titles = copies
            .group_by([BookCopy::title(), BookCopy::author(), BookCopy::isbn()])
            .page(
                BookCopy::id().collect().only(is_available),
                context.paging(),
            )
            .await?;
        Ok(titles.map(Title::from_copies))
    }
}
