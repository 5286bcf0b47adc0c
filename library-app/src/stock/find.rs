//! Anyone looks up one copy.

use es_framework::prelude::*;

use super::copy::BookCopy;

/// Shows one copy.
#[derive(Query)]
#[query(path = "/books/{id}", row = BookCopy)]
pub struct FindCopy {
    pub id: Uuid,
}
