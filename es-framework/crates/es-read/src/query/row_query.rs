//! The rows of a read model that meet conditions, as SQL in which every value is a parameter.

use std::marker::PhantomData;

use super::{
    Column, Condition, OrderedValue, Page, PageParameters, QueryError,
    condition::{composite_key_condition, selected_key},
    cursor::{LongCursor, PageCursor, PageStart, RowCursor, SortValue, SortedRow},
    sort_order::{SortColumn, SortDirection, SortKey},
    sql_fragment::SqlFragment,
    table_view::TableView,
};
use crate::projection::{
    Cell, Cells, ColumnType, Database, FetchedRows, QueryCost, ReadModel, Table, TableRow,
    table_statements::{POSITION_COLUMN, quote_name},
};
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
    pub(super) database: &'a Database,
    conditions: Vec<Condition<R>>,
    order: Option<SortColumn>,
    caller: Caller,
    rows: PhantomData<fn() -> R>,
}

impl<'a, R: ReadModel> RowQuery<'a, R> {
    pub(super) const fn new(database: &'a Database, caller: Caller) -> Self {
        Self {
            database,
            conditions: Vec::new(),
            order: None,
            caller,
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

    fn sort_in<T: ColumnType>(mut self, column: Column<R, T>, direction: SortDirection) -> Self {
        let column = column.name();
        self.order = Some(SortColumn { column, direction });
        self
    }

    /// Sorts the rows as the client requests with the parameter `sort`, if it does. [`Query::SORT_CHOICES`] of the query
    /// lists the columns among which the client chooses.
    ///
    /// [`Query::SORT_CHOICES`]: super::Query::SORT_CHOICES
    #[must_use]
    pub fn sort_as_requested(mut self, paging: &PageParameters) -> Self {
        self.order = paging.sort.or(self.order);
        self
    }

    /// Returns the row that comes first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn first(self) -> Result<Option<R>, QueryError> {
        Ok(self.first_rows(1).await?.into_iter().next())
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
        let paging = PageParameters::first_rows(count);
        Ok(self.page(&paging).await?.items)
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
        let table = R::TABLE;
        let paging = PageParameters::first_rows(limit);
        let page = self.page(&paging).await?;
        match page.next_cursor {
            None => Ok(page.items),
            Some(_) => Err(QueryError::TooManyRows { table, limit }),
        }
    }

    /// Returns a page of the rows. A row that is written between two pages neither repeats nor hides
    /// another row. A page of rows with more than 8 MiB ends before its `limit`, with a cursor.
    ///
    /// # Errors
    /// The database failed, or the cursor belongs to another query.
    pub async fn page(self, paging: &PageParameters) -> Result<Page<R>, QueryError> {
        let view = self.view()?;
        let table = view.table;
        let filter = self.filter_sql(view)?;
        let total = if paging.total {
            Some(self.count(table, &filter).await?)
        } else {
            None
        };
        let rows = self.load_page(view, filter, paging).await?;
        let page = Page::new(rows, paging, total, |rows| self.cursor_between(table, rows))?;
        page.try_map(|row| Ok(R::from_cells(Cells::new(row.cells))?))
    }

    /// Returns the table as the caller sees it.
    pub(super) fn view(&self) -> Result<TableView<'_>, QueryError> {
        let table = self.database.find_table(R::TABLE);
        let table = table.ok_or_else(|| QueryError::Undeclared {
            what: format!("the table {}", R::TABLE),
        })?;
        Ok(TableView {
            database: self.database,
            table,
            caller: &self.caller,
        })
    }

    /// Returns the SQL condition that all rows have to meet.
    pub(super) fn filter_sql(&self, view: TableView<'_>) -> Result<SqlFragment, QueryError> {
        let is_sorted = self.order.map(|order| Condition::is_not_null(order.column));
        let key = composite_key_condition(&self.conditions);
        let conditions = self.conditions.iter().chain(&is_sorted).chain(&key);
        let conditions = conditions.map(|condition| Ok(condition.to_sql(view)?.in_parentheses()));
        let conditions: Result<Vec<_>, QueryError> = conditions.collect();
        Ok(SqlFragment::join(conditions?, " AND "))
    }

    /// Returns the number of rows.
    async fn count(&self, table: &Table, filter: &SqlFragment) -> Result<u64, QueryError> {
        let name = quote_name(table.model.name);
        let statement = format!("SELECT count(*) FROM {name}{}", where_clause(&filter.text));
        let parameters = filter.parameters.clone();
        Ok(self
            .database
            .fetch_count(QueryCost::Aggregate, statement, parameters)
            .await?)
    }

    /// Loads the rows of the page, and one more if there is a next page.
    async fn load_page(
        &self,
        view: TableView<'_>,
        filter: SqlFragment,
        paging: &PageParameters,
    ) -> Result<FetchedRows<TableRow>, QueryError> {
        let Some(order) = self.order else {
            let conditions = [filter].into_iter().chain(position_condition(paging)?);
            return self
                .load_rows(view, conditions, POSITION_COLUMN, paging)
                .await;
        };
        let table = view.table;
        let start = self.find_start(view, order, paging).await?;
        let load = async |key: SortKey| {
            let after = start.as_ref().map(|start| key.start_condition(start));
            let conditions = [filter.clone()].into_iter().chain(after);
            self.load_rows(view, conditions, &key.order_clause(), paging)
                .await
        };
        let prefix = self.database.indexed_prefix(table, order.column);
        if let Some(prefix) = prefix.clone()
            && start.as_ref().is_none_or(|start| start.row.is_short())
        {
            // The index has this order. The exact order has to sort all rows with the prefix of the first one,
            // which can be the same text in a million rows.
            let rows = load(SortKey::by_prefix(order, prefix)).await?;
            let is_short = |row| sorted_row(table, order, row).is_some_and(|row| row.is_short());
            if rows.rows.iter().all(is_short) {
                return Ok(rows);
            }
        }
        load(SortKey::exact(table, order, prefix)).await
    }

    async fn load_rows(
        &self,
        view: TableView<'_>,
        conditions: impl Iterator<Item = SqlFragment>,
        order: &str,
        paging: &PageParameters,
    ) -> Result<FetchedRows<TableRow>, QueryError> {
        let conditions = conditions.filter(|condition| !condition.text.is_empty());
        let filter = SqlFragment::join(conditions, " AND ");
        let select = view.select_from_clause();
        let statement = format!(
            "{}{} ORDER BY {order} LIMIT ?",
            select.text,
            where_clause(&filter.text),
        );
        let parameters = select.parameters.into_iter().chain(filter.parameters);
        let parameters = parameters.chain([paging.limit_plus_one()]).collect();
        let (database, cost) = (self.database, self.page_cost());
        Ok(database
            .fetch_rows(cost, view.table, statement, parameters, paging.most_bytes)
            .await?)
    }

    /// A condition on the key leaves at most one row, which the database finds in the index of the key.
    fn page_cost(&self) -> QueryCost {
        match selected_key(&self.conditions) {
            Some(_) => QueryCost::Lookup,
            None => QueryCost::Page,
        }
    }

    /// Returns the row at which the page begins, unless it is the first page.
    async fn find_start(
        &self,
        view: TableView<'_>,
        order: SortColumn,
        paging: &PageParameters,
    ) -> Result<Option<PageStart>, QueryError> {
        Ok(match &paging.after {
            None => None,
            Some(PageCursor::Row(row)) => Some(exact_start::<R>(order, row, self.database)?),
            Some(PageCursor::Long(cursor)) => Some(self.load_start(view, order, cursor).await?),
            Some(PageCursor::Group { .. }) => return Err(PageCursor::foreign_cursor_error()),
        })
    }

    /// Looks up the row at which a page begins, because its values are not in the cursor.
    async fn load_start(
        &self,
        view: TableView<'_>,
        order: SortColumn,
        cursor: &LongCursor,
    ) -> Result<PageStart, QueryError> {
        let rows = self.load_rows_at(view, cursor.positions()).await?;
        let rows = rows.iter();
        let rows = rows.filter_map(|row| sorted_row(view.table, order, row));
        cursor.find_start(&[&order.name()], rows.collect())
    }

    /// Loads the rows at two positions, if the query selects them. A client can write a cursor with any position and any
    /// digest, and must not learn from the response whether another row has this digest.
    pub(super) async fn load_rows_at(
        &self,
        view: TableView<'_>,
        positions: [i64; 2],
    ) -> Result<Vec<TableRow>, QueryError> {
        let select = view.select_from_clause();
        let positions = SqlFragment::new(
            format!("{POSITION_COLUMN} IN (?, ?)"),
            positions.map(Cell::Integer).into(),
        );
        let filter = [self.filter_sql(view)?, positions].into_iter();
        let filter = filter.filter(|condition| !condition.text.is_empty());
        let filter = SqlFragment::join(filter, " AND ");
        let statement = format!("{}{}", select.text, where_clause(&filter.text));
        let parameters = select.parameters.into_iter().chain(filter.parameters);
        let parameters = parameters.collect();
        let (database, cost) = (self.database, QueryCost::Lookup);
        let rows = database.fetch_rows(cost, view.table, statement, parameters, usize::MAX);
        Ok(rows.await?.rows)
    }

    /// Returns the cursor between the last row of a page and the row after it.
    fn cursor_between(
        &self,
        table: &Table,
        [last, next]: [&TableRow; 2],
    ) -> Result<PageCursor, QueryError> {
        let position = last.place;
        let Some(order) = self.order else {
            let (by, sort) = (None, None);
            return Ok(PageCursor::Row(RowCursor { position, by, sort }));
        };
        // Rows without a value in the column are left out.
        let sorted = |row| sorted_row(table, order, row);
        let (Some(last), Some(next)) = (sorted(last), sorted(next)) else {
            return Err(PageCursor::foreign_cursor_error());
        };
        let by = last.values.first().and_then(SortValue::from_cell);
        let sort = Some(order.name());
        let exact = PageCursor::Row(RowCursor { position, by, sort });
        exact.shortened(&[&order.name()], [&last, &next])
    }
}

/// Returns the condition that a row comes after the last row of the page before, in the order of their age.
fn position_condition(paging: &PageParameters) -> Result<Option<SqlFragment>, QueryError> {
    match &paging.after {
        None => Ok(None),
        Some(PageCursor::Row(RowCursor {
            position, by: None, ..
        })) => {
            let condition = format!("{POSITION_COLUMN} > ?");
            let position = vec![Cell::Integer(*position)];
            Ok(Some(SqlFragment::new(condition, position)))
        }
        Some(_) => Err(PageCursor::foreign_cursor_error()),
    }
}

/// Returns the place after the row of a cursor that has its value.
fn exact_start<R: ReadModel>(
    order: SortColumn,
    row: &RowCursor,
    database: &Database,
) -> Result<PageStart, QueryError> {
    let is_of_order = row.sort.as_ref().is_none_or(|sort| *sort == order.name());
    let value = row.by.clone().filter(|_| is_of_order);
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
fn sorted_row(table: &Table, order: SortColumn, row: &TableRow) -> Option<SortedRow> {
    let mut columns = table.model.columns.iter();
    let index = columns.position(|column| column.name == order.column)?;
    let cell = row.cells.get(index)?.clone();
    Some(SortedRow {
        position: row.place,
        values: vec![table.compared_cell(order.column, cell)],
    })
}

fn is_value_of<R: ReadModel>(name: &str, value: &SortValue) -> bool {
    let mut columns = R::COLUMNS.iter();
    columns.any(|column| column.name == name && value.fits(column.kind))
}

/// Returns the `WHERE` clause, which is empty without a condition.
pub(super) fn where_clause(condition: &str) -> String {
    match condition {
        "" => String::new(),
        condition => format!(" WHERE {condition}"),
    }
}
