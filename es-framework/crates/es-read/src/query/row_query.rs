//! A typed query for rows of a read model.

use std::marker::PhantomData;

use super::{
    Column, Condition, OrderedValue, Page, PageParameters, QueryError,
    row_selection::RowSelection,
    sort_order::{SortColumn, SortDirection},
};
use crate::projection::{Cells, ColumnType, Database, ReadModel, TableRow};
use es_event::Caller;

/// A query for rows of the read model `R`: conditions, and the order in which the rows come.
///
/// ```
/// use es_framework::{prelude::*, query::Column};
///
/// async fn first_of<R: ReadModel>(
///     context: &QueryContext<'_>,
///     title: Column<R, String>,
///     titles: &[String],
/// ) -> Result<Option<R>, QueryError> {
///     context.rows::<R>().filter(title.one_of(titles)).sort(title).first().await
/// }
/// ```
#[derive(Debug)]
pub struct RowQuery<'a, R> {
    pub(super) selection: RowSelection<'a>,
    rows: PhantomData<fn() -> R>,
}

impl<'a, R: ReadModel> RowQuery<'a, R> {
    pub(super) fn new(database: &'a Database, caller: Caller) -> Self {
        Self {
            selection: RowSelection::new(database, R::TABLE, caller),
            rows: PhantomData,
        }
    }

    /// Leaves out the rows that do not meet the condition. Rows have to meet the conditions of all
    /// calls.
    #[must_use]
    pub fn filter(mut self, condition: Condition<R>) -> Self {
        self.selection.conditions.push(condition.expression);
        self
    }

    /// Sorts the rows by a column, the smallest value first, and rows with the same value by age.
    /// Unsorted rows come in the order of their age, the oldest first. Rows without a value in this
    /// column are left out.
    #[must_use]
    pub fn sort<T: OrderedValue>(self, column: Column<R, T>) -> Self {
        self.sort_in(column, SortDirection::Ascending)
    }

    /// Sorts like [`RowQuery::sort`], but in the opposite order: the largest value comes first.
    #[must_use]
    pub fn sort_descending<T: OrderedValue>(self, column: Column<R, T>) -> Self {
        self.sort_in(column, SortDirection::Descending)
    }

    fn sort_in<T: ColumnType>(mut self, column: Column<R, T>, direction: SortDirection) -> Self {
        let column = column.name();
        self.selection.order = Some(SortColumn { column, direction });
        self
    }

    /// Sorts the rows as the client requests with the parameter `sort`, if it does. [`Query::SORT_CHOICES`] of the query
    /// lists the columns among which the client chooses.
    ///
    /// [`Query::SORT_CHOICES`]: super::Query::SORT_CHOICES
    #[must_use]
    pub fn sort_as_requested(mut self, paging: &PageParameters) -> Self {
        self.selection.order = paging.sort.or(self.selection.order);
        self
    }

    /// Returns the row that comes first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn first(self) -> Result<Option<R>, QueryError> {
        let rows = self.selection.load_first(1).await?;
        rows.into_iter().next().map(read_row).transpose()
    }

    /// Returns the rows that come first, `count` or fewer.
    ///
    /// ```
    /// use es_framework::{prelude::*, query::Column};
    ///
    /// async fn ten_longest<R: ReadModel>(
    ///     context: &QueryContext<'_>,
    ///     pages: Column<R, u32>,
    /// ) -> Result<Vec<R>, QueryError> {
    ///     context.rows::<R>().sort_descending(pages).first_rows(10).await
    /// }
    /// ```
    ///
    /// # Errors
    /// The database failed.
    pub async fn first_rows(self, count: u32) -> Result<Vec<R>, QueryError> {
        let rows = self.selection.load_first(count).await?;
        rows.into_iter().map(read_row).collect()
    }

    /// Returns all rows. `limit` protects the memory: more rows are an error, and never a list that
    /// is cut off. [`RowQuery::page`] returns any number of rows, and [`RowQuery::first_rows`] some of
    /// them.
    ///
    /// ```
    /// use es_framework::{prelude::*, query::Column};
    ///
    /// async fn copies_of<R: ReadModel>(
    ///     context: &QueryContext<'_>,
    ///     title: Column<R, String>,
    ///     wanted: &str,
    /// ) -> Result<Vec<R>, QueryError> {
    ///     context.rows::<R>().filter(title.eq(&wanted.to_owned())).all(10_000).await
    /// }
    /// ```
    ///
    /// # Errors
    /// There are more rows than `limit`, or the database failed.
    pub async fn all(self, limit: u32) -> Result<Vec<R>, QueryError> {
        let rows = self.selection.load_all(limit).await?;
        rows.into_iter().map(read_row).collect()
    }

    /// Returns a page of the rows. A row that is written between two pages neither repeats nor hides
    /// another row. A page of rows with more than 8 MiB ends before its `limit`, with a cursor.
    ///
    /// # Errors
    /// The database failed, or the cursor belongs to another query.
    pub async fn page(self, paging: &PageParameters) -> Result<Page<R>, QueryError> {
        let page = self.selection.load_page(paging).await?;
        page.try_map(read_row)
    }
}

fn read_row<R: ReadModel>(row: TableRow) -> Result<R, QueryError> {
    Ok(R::from_cells(Cells::new(row.cells))?)
}
