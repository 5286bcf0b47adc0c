//! The rows of a read model that meet conditions, as SQL in which every value is a parameter.

use std::marker::PhantomData;

use super::{
    Column, Condition, OrderedValue, Page, PageParameters, QueryError,
    condition::SqlFragment,
    cursor::{LongCursor, PageCursor, PageStart, RowCursor, SortValue, SortedRow},
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
        let page = Page::new(rows, paging, total, |rows| self.cursor_between(rows))?;
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
        let after = self.after_cursor(table, paging).await?;
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
    async fn after_cursor(
        &self,
        table: &Table,
        paging: &PageParameters,
    ) -> Result<Option<SqlFragment>, QueryError> {
        let Some(cursor) = &paging.after else {
            return Ok(None);
        };
        let start = match (self.order, cursor) {
            (None, PageCursor::Row(RowCursor { position, by: None })) => {
                let position = Cell::Integer(*position);
                let condition = format!("{POSITION_COLUMN} > ?");
                return Ok(Some(SqlFragment::new(condition, vec![position])));
            }
            (Some(order), PageCursor::Row(row)) => exact_start::<R>(order, row, self.database)?,
            (Some(order), PageCursor::Long(cursor)) => {
                self.load_start(table, order, cursor).await?
            }
            _ => return Err(PageCursor::foreign_cursor_error()),
        };
        let Some(SortColumn { column, direction }) = self.order else {
            return Err(PageCursor::foreign_cursor_error());
        };
        let operator = match (direction, start.is_included) {
            (SortDirection::Ascending, false) => ">",
            (SortDirection::Ascending, true) => ">=",
            (SortDirection::Descending, false) => "<",
            (SortDirection::Descending, true) => "<=",
        };
        let text = format!(
            "({}, {POSITION_COLUMN}) {operator} (?, ?)",
            quote_name(column)
        );
        let SortedRow { position, values } = start.row;
        let parameters = values.into_iter().chain([Cell::Integer(position)]);
        Ok(Some(SqlFragment::new(text, parameters.collect())))
    }

    /// Looks up the row at which a page begins, because its values are not in the cursor.
    async fn load_start(
        &self,
        table: &Table,
        order: SortColumn,
        cursor: &LongCursor,
    ) -> Result<PageStart, QueryError> {
        let rows = self.load_rows_at(table, cursor.positions()).await?;
        let rows = rows.iter().filter_map(|row| sorted_row::<R>(order, row));
        cursor.find_start(&[order.column], rows.collect())
    }

    /// Loads the rows at two positions.
    pub(super) async fn load_rows_at(
        &self,
        table: &Table,
        positions: [i64; 2],
    ) -> Result<Vec<TableRow>, QueryError> {
        let statement = format!(
            "{} WHERE {POSITION_COLUMN} IN (?, ?)",
            table_statements::select_from_clause(table)
        );
        let positions = positions.map(Cell::Integer).to_vec();
        Ok(self
            .database
            .fetch_rows(table, statement, positions)
            .await?)
    }

    /// Returns the cursor between the last row of a page and the row after it.
    fn cursor_between(&self, [last, next]: [&TableRow; 2]) -> Result<PageCursor, QueryError> {
        let position = last.place;
        let Some(order) = self.order else {
            let by = None;
            return Ok(PageCursor::Row(RowCursor { position, by }));
        };
        // Rows without a value in the column are left out.
        let (Some(last), Some(next)) = (sorted_row::<R>(order, last), sorted_row::<R>(order, next))
        else {
            return Err(PageCursor::foreign_cursor_error());
        };
        let by = last.values.first().and_then(SortValue::from_cell);
        let exact = PageCursor::Row(RowCursor { position, by });
        exact.shortened(&[order.column], [&last, &next])
    }
}

/// Returns the place after the row of a cursor that has its value.
fn exact_start<R: ReadModel>(
    order: SortColumn,
    row: &RowCursor,
    database: &Database,
) -> Result<PageStart, QueryError> {
    let value = row.by.clone();
    let value = value.filter(|value| is_value_of::<R>(order.column, value));
    let value = Cell::from(value.ok_or_else(PageCursor::foreign_cursor_error)?);
    PageCursor::check_storable(&value, database)?;
    Ok(PageStart {
        row: SortedRow {
            position: row.position,
            values: vec![value],
        },
        is_included: false,
    })
}

/// Returns a row with the value that it is sorted by.
fn sorted_row<R: ReadModel>(order: SortColumn, row: &TableRow) -> Option<SortedRow> {
    let mut columns = R::COLUMNS.iter();
    let index = columns.position(|column| column.name == order.column)?;
    Some(SortedRow {
        position: row.place,
        values: vec![row.cells.get(index)?.clone()],
    })
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
