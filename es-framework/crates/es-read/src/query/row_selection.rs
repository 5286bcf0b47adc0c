//! The rows of a table that meet conditions, as SQL in which every value is a parameter. The type of the rows is not known here, so
//! that all this is compiled once.

use futures_util::future::BoxFuture;

use super::{
    Page, PageParameters, QueryError,
    condition::{Expression, composite_key_condition, selected_key},
    cursor::{LongCursor, PageCursor, PageStart, RowCursor, SortValue, SortedRow},
    sort_order::{SortColumn, SortKey},
    sql_fragment::SqlFragment,
    table_view::TableView,
};
use crate::projection::{
    Cell, Database, FetchedRows, QueryCost, Table, TableRow,
    table_statements::{POSITION_COLUMN, quote_name},
};
use es_event::Caller;

/// Conditions on the rows of a table, and the order in which the rows come.
#[derive(Debug)]
pub(super) struct RowSelection<'a> {
    pub(super) database: &'a Database,
    table: &'static str,
    pub(super) conditions: Vec<Expression>,
    pub(super) order: Option<SortColumn>,
    caller: Caller,
}

impl<'a> RowSelection<'a> {
    pub(super) const fn new(database: &'a Database, table: &'static str, caller: Caller) -> Self {
        Self {
            database,
            table,
            conditions: Vec::new(),
            order: None,
            caller,
        }
    }

    /// Loads a page of the rows.
    pub(super) fn load_page<'p>(
        &'p self,
        paging: &'p PageParameters,
    ) -> BoxFuture<'p, Result<Page<TableRow>, QueryError>> {
        Box::pin(async move {
            let view = self.view()?;
            let table = view.table;
            let filter = self.filter_sql(view)?;
            let total = if paging.total {
                Some(self.count(table, &filter).await?)
            } else {
                None
            };
            let rows = self.load_page_rows(view, filter, paging).await?;
            Page::new(rows, paging, total, |rows| self.cursor_between(table, rows))
        })
    }

    /// Loads the rows that come first, `count` or fewer.
    pub(super) fn load_first(
        &self,
        count: u32,
    ) -> BoxFuture<'_, Result<Vec<TableRow>, QueryError>> {
        Box::pin(async move {
            let paging = PageParameters::first_rows(count);
            Ok(self.load_page(&paging).await?.items)
        })
    }

    /// Loads all rows, unless there are more than `limit`.
    pub(super) fn load_all(&self, limit: u32) -> BoxFuture<'_, Result<Vec<TableRow>, QueryError>> {
        Box::pin(async move {
            let table = self.table;
            let paging = PageParameters::first_rows(limit);
            let page = self.load_page(&paging).await?;
            match page.next_cursor {
                None => Ok(page.items),
                Some(_) => Err(QueryError::TooManyRows { table, limit }),
            }
        })
    }

    /// Returns the table as the caller sees it.
    pub(super) fn view(&self) -> Result<TableView<'_>, QueryError> {
        let declared = self.database.find_table(self.table);
        let table = declared.ok_or_else(|| QueryError::Undeclared {
            what: format!("the table {}", self.table),
        })?;
        Ok(TableView {
            database: self.database,
            table,
            caller: &self.caller,
        })
    }

    /// Returns the SQL condition that all rows have to meet.
    pub(super) fn filter_sql(&self, view: TableView<'_>) -> Result<SqlFragment, QueryError> {
        let is_sorted = self.order.map(|order| Expression::IsNotNull(order.column));
        let key = composite_key_condition(&self.conditions, view.table.model.identity);
        let all = self.conditions.iter().chain(&is_sorted).chain(&key);
        let fragments: Result<Vec<_>, QueryError> = all
            .map(|condition| Ok(condition.to_sql(view)?.in_parentheses()))
            .collect();
        Ok(SqlFragment::join(fragments?, " AND "))
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
    async fn load_page_rows(
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
        let prefix = self.database.dialect().indexed_prefix(table, order.column);
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
        let filter = SqlFragment::join(conditions.filter(SqlFragment::is_present), " AND ");
        let select = view.select_from_clause();
        let statement = format!(
            "{}{} ORDER BY {order} LIMIT ?",
            select.text,
            where_clause(&filter.text),
        );
        let parameters = select
            .parameters
            .into_iter()
            .chain(filter.parameters)
            .chain([paging.limit_plus_one()])
            .collect();
        let (database, cost) = (self.database, self.page_cost(view.table));
        Ok(database
            .fetch_rows(cost, view.table, statement, parameters, paging.most_bytes)
            .await?)
    }

    /// A condition on the key leaves at most one row, which the database finds in the index of the key.
    fn page_cost(&self, table: &Table) -> QueryCost {
        match selected_key(&self.conditions, table.model.identity) {
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
            Some(PageCursor::Row(row)) => Some(exact_start(view, order, row)?),
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
        let sorted = rows
            .iter()
            .filter_map(|row| sorted_row(view.table, order, row));
        cursor.find_start(&[&order.name()], sorted.collect())
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
        let conditions = [self.filter_sql(view)?, positions].into_iter();
        let filter = SqlFragment::join(conditions.filter(SqlFragment::is_present), " AND ");
        let statement = format!("{}{}", select.text, where_clause(&filter.text));
        let parameters = select.parameters.into_iter().chain(filter.parameters);
        let (database, cost) = (self.database, QueryCost::Lookup);
        let rows = database.fetch_rows(
            cost,
            view.table,
            statement,
            parameters.collect(),
            usize::MAX,
        );
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
fn exact_start(
    view: TableView<'_>,
    order: SortColumn,
    row: &RowCursor,
) -> Result<PageStart, QueryError> {
    let is_of_order = row.sort.as_ref().is_none_or(|sort| *sort == order.name());
    let fits = |value: &SortValue| {
        let mut columns = view.table.model.columns.iter();
        columns.any(|column| column.name == order.column && value.fits(column.kind))
    };
    let by = row.by.clone().filter(|value| is_of_order && fits(value));
    let value = Cell::from(by.ok_or_else(PageCursor::foreign_cursor_error)?);
    PageCursor::check_storable(&value, view.database)?;
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

/// Returns the `WHERE` clause, which is empty without a condition.
pub(super) fn where_clause(condition: &str) -> String {
    match condition {
        "" => String::new(),
        condition => format!(" WHERE {condition}"),
    }
}
