//! A page of rows with the rows of another read model whose keys they contain.

use std::collections::{BTreeMap, BTreeSet};

use super::{Page, QueryContext, QueryError, condition::Expression};
use crate::projection::{Cell, KeyRef, ReadModel, RowIdentity, RowKey};

impl QueryContext<'_> {
    /// Adds to each row of a page the row of another read model whose key it contains. `key` returns the key, if the row
    /// has one, and `combine` gets the row and the other one, if there is one. The page keeps its order and its cursor.
    ///
    /// One more statement loads all other rows of the page, as the caller sees them. They may contain later events than the
    /// page does.
    ///
    /// ```
    /// use es_framework::prelude::*;
    /// # #[derive(Event)]
    /// # struct BookPurchasedEvent { id: Uuid, title: String }
    /// # #[derive(Event)]
    /// # struct LoanOpenedEvent { id: Uuid, book: Uuid }
    /// #[derive(ReadModel)]
    /// #[read_model(table = "books", subject = "/books/{id}")]
    /// struct Book { #[key] id: Uuid, title: String }
    ///
    /// #[derive(ReadModel)]
    /// #[read_model(table = "loans", subject = "/loans/{id}")]
    /// struct Loan { #[key] id: Uuid, book: Uuid }
    /// # #[projection]
    /// # impl Book {
    /// #     fn purchased(event: BookPurchasedEvent) -> Self { Self { id: event.id, title: event.title } }
    /// # }
    /// # #[projection]
    /// # impl Loan {
    /// #     fn opened(event: LoanOpenedEvent) -> Self { Self { id: event.id, book: event.book } }
    /// # }
    ///
    /// /// Returns the titles of the lent books.
    /// async fn lent_titles(context: &QueryContext<'_>) -> Result<Page<Option<String>>, QueryError> {
    ///     let loans = context.rows::<Loan>().page(context.paging()).await?;
    ///     let title = |_: Loan, book: Option<&Book>| book.map(|book| book.title.clone());
    ///     context.join(loans, |loan| Some(&loan.book), title).await
    /// }
    /// ```
    ///
    /// # Errors
    /// The database failed.
    pub async fn join<L, R: ReadModel, T>(
        &self,
        page: Page<L>,
        key: impl Fn(&L) -> Option<KeyRef<'_, R>>,
        mut combine: impl FnMut(L, Option<&R>) -> T,
    ) -> Result<Page<T>, QueryError> {
        // No row has a key that cannot be one.
        let key_of = |row: &L| RowKey::from_fields::<R>(key(row)?).ok();
        let keys: Vec<Option<RowKey>> = page.items.iter().map(key_of).collect();
        let wanted: BTreeSet<RowKey> = keys.iter().flatten().cloned().collect();
        let mut others = BTreeMap::new();
        if !wanted.is_empty() {
            let cells = wanted.into_iter().map(Cell::from).collect();
            let column = RowIdentity::of::<R>().key_column();
            let mut rows = self.rows::<R>();
            let wanted = Expression::OneOf(column, cells);
            rows.selection.conditions.push(wanted);
            for row in rows.all(u32::MAX).await? {
                if let Ok(key) = RowKey::from_fields::<R>(row.key()) {
                    others.insert(key, row);
                }
            }
        }
        let mut keys_of_rows = keys.into_iter();
        Ok(page.map(|row| {
            let key = keys_of_rows.next().flatten();
            combine(row, key.and_then(|key| others.get(&key)))
        }))
    }
}
