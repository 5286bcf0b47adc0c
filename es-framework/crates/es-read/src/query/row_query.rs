//! The rows of a read model that meet conditions, as SQL in which every value is a parameter.

use std::marker::PhantomData;

use super::{
    Column, Condition, OrderedValue, Page, PageParameters, QueryError,
    condition::SqlFragment,
    cursor::{PageCursor, RowCursor, SortValue},
    page::SortDirection,
};
use crate::projection::{
    Cell, Cells, ColumnType, Database, ReadModel, Table, TableRow,
    table_statements::{self, POSITION_COLUMN, quote_name},
};

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
    pub(super) database: &'a Database,
    conditions: Vec<Condition<R>>,
    order: Option<SortColumn>,
    rows: PhantomData<fn() -> R>,
}

/// The column that the rows are sorted by, and the direction.
#[derive(Debug, Clone, Copy)]
struct SortColumn {
    column: &'static str,
    direction: SortDirection,
}

impl<'a, R: ReadModel> RowQuery<'a, R> {
    pub(super) const fn new(database: &'a Database) -> Self {
        Self {
            database,
            conditions: Vec::new(),
            order: None,
            rows: PhantomData,
        }
    }

    /// Leaves out the rows that do not meet the condition. Rows have to meet the conditions of all
    /// calls.
    #[must_use]
    pub fn filter(mut self, condition: Condition<R>) -> Self {
        self.conditions.push(condition);
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

    fn sort_in<T: ColumnType>(self, column: Column<R, T>, direction: SortDirection) -> Self {
        let column = column.name();
        let mut sorted = self.filter(Condition::is_not_null(column));
        sorted.order = Some(SortColumn { column, direction });
        sorted
    }

    /// Returns the row that comes first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn first(self) -> Result<Option<R>, QueryError> {
        Ok(self.all(1).await?.into_iter().next())
    }

    /// Returns all rows, but no more than `limit`.
    ///
    /// # Errors
    /// The database failed.
    pub async fn all(self, limit: u32) -> Result<Vec<R>, QueryError> {
        let paging = PageParameters {
            limit,
            ..PageParameters::default()
        };
        Ok(self.page(&paging).await?.items)
    }

    /// Returns a page of the rows. A row that is written between two pages neither repeats nor hides
    /// another row.
    ///
    /// # Errors
    /// The database failed, or the cursor belongs to another query.
    pub async fn page(self, paging: &PageParameters) -> Result<Page<R>, QueryError> {
        let table = self.find_table()?;
        let filter = self.filter_sql(table)?;
        let total = if paging.total {
            Some(self.count(table, &filter).await?)
        } else {
            None
        };
        let rows = self.load_page(table, filter, paging).await?;
        let page = Page::new(rows, paging, total, |last| Ok(self.cursor_after(last)))?;
        page.try_map(|row| Ok(R::from_cells(Cells::new(row.cells))?))
    }

    pub(super) fn find_table(&self) -> Result<&'a Table, QueryError> {
        let table = self.database.find_table(R::TABLE);
        table.ok_or_else(|| QueryError::Undeclared {
            what: format!("the table {}", R::TABLE),
        })
    }

    /// Returns the SQL condition that all rows have to meet.
    pub(super) fn filter_sql(&self, table: &Table) -> Result<SqlFragment, QueryError> {
        let conditions = self.conditions.iter();
        let conditions = conditions.map(|condition| {
            let SqlFragment { text, parameters } = condition.to_sql(self.database, table)?;
            Ok(SqlFragment::new(format!("({text})"), parameters))
        });
        let conditions: Result<Vec<_>, QueryError> = conditions.collect();
        Ok(SqlFragment::join(conditions?, " AND "))
    }

    /// Returns the number of rows.
    async fn count(&self, table: &Table, filter: &SqlFragment) -> Result<u64, QueryError> {
        let name = quote_name(table.model.name);
        let statement = format!("SELECT count(*) FROM {name}{}", where_clause(&filter.text));
        let parameters = filter.parameters.clone();
        Ok(self.database.fetch_count(statement, parameters).await?)
    }

    /// Loads the rows of the page, and one more if there is a next page.
    async fn load_page(
        &self,
        table: &Table,
        filter: SqlFragment,
        paging: &PageParameters,
    ) -> Result<Vec<TableRow>, QueryError> {
        let after = self.after_cursor(paging)?;
        let conditions = [filter].into_iter().chain(after);
        let conditions = conditions.filter(|condition| !condition.text.is_empty());
        let SqlFragment {
            text,
            mut parameters,
        } = SqlFragment::join(conditions, " AND ");
        let statement = format!(
            "{}{} ORDER BY {} LIMIT ?",
            table_statements::select_from_clause(table),
            where_clause(&text),
            self.order_clause()
        );
        parameters.push(paging.limit_plus_one());
        Ok(self
            .database
            .fetch_rows(table, statement, parameters)
            .await?)
    }

    fn order_clause(&self) -> String {
        let Some(SortColumn { column, direction }) = self.order else {
            return POSITION_COLUMN.to_owned();
        };
        let column = quote_name(column);
        match direction {
            SortDirection::Ascending => format!("{column}, {POSITION_COLUMN}"),
            SortDirection::Descending => format!("{column} DESC, {POSITION_COLUMN} DESC"),
        }
    }

    /// Returns the condition that a row comes after the last row of the page before.
    fn after_cursor(&self, paging: &PageParameters) -> Result<Option<SqlFragment>, QueryError> {
        let Some(cursor) = &paging.after else {
            return Ok(None);
        };
        let RowCursor { position, by } = cursor.as_row()?.clone();
        let position = Cell::Integer(position);
        Ok(Some(match (self.order, by) {
            (None, None) => SqlFragment::new(format!("{POSITION_COLUMN} > ?"), vec![position]),
            (Some(SortColumn { column, direction }), Some(value))
                if is_value_of::<R>(column, &value) =>
            {
                let operator = match direction {
                    SortDirection::Ascending => ">",
                    SortDirection::Descending => "<",
                };
                let value = value.into();
                PageCursor::check_storable(&value, self.database)?;
                let text = format!(
                    "({}, {POSITION_COLUMN}) {operator} (?, ?)",
                    quote_name(column)
                );
                SqlFragment::new(text, vec![value, position])
            }
            _ => return Err(PageCursor::foreign_cursor_error()),
        }))
    }

    fn cursor_after(&self, last: &TableRow) -> PageCursor {
        let by = self.order.and_then(|order| {
            let mut columns = R::COLUMNS.iter();
            let index = columns.position(|column| column.name == order.column)?;
            SortValue::from_cell(last.cells.get(index)?)
        });
        PageCursor::Row(RowCursor {
            position: last.place,
            by,
        })
    }
}

fn is_value_of<R: ReadModel>(name: &str, value: &SortValue) -> bool {
    let mut columns = R::COLUMNS.iter();
    columns.any(|column| column.name == name && value.fits(column.kind))
}

fn where_clause(condition: &str) -> String {
    match condition {
        "" => String::new(),
        condition => format!(" WHERE {condition}"),
    }
}
