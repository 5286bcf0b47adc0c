//! Anyone browses the stock.

use es_framework::prelude::*;

use super::copy::{BookCopy, CopyStatus};

/// Browses the copies in stock.
#[derive(Query)]
#[query(path = "/books", rows = BookCopy)]
pub struct BrowseStock {
    #[filter(contains)]
    pub isbn: Option<String>,
    #[filter(contains)]
    pub title: Option<String>,
    #[filter(contains)]
    pub author: Option<String>,
    #[filter(eq)]
    pub status: Option<CopyStatus>,
}
