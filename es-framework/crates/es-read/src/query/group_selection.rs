//! Groups of the rows of a table, as SQL. The types of keys and rows are not known here.

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{
    Page, PageParameters, QueryError,
    aggregate::{AggregateExpression, AggregateValues},
    aggregate_selection::{aggregate_list, explain_overflow},
    condition::prefix_of,
    cursor::{PageCursor, PageStart, SortedRow},
    row_selection::RowSelection,
    sql_fragment::SqlFragment,
    table_view::TableView,
};
use crate::projection::{
    Cell, QueryCost, Table, TableRow,
    table_statements::{POSITION_COLUMN, quote_name},
};

/// Converts a part of a key to a cell of its column.
pub(super) type KeyPartConversion = fn(&Value, &'static str) -> Result<Cell, QueryError>;

/// The columns that rows are grouped by, and the aggregates of each group.
pub(super) struct GroupSelection<'q> {
    pub(super) rows: &'q RowSelection<'q>,
    pub(super) columns: &'q [&'static str],
    /// The conversions of the parts of a key, one for each column.
    pub(super) conversions: &'q [KeyPartConversion],
    pub(super) aggregates: Vec<&'q AggregateExpression>,
}

/// A group as the database returns it.
pub(super) struct LoadedGroup {
    pub(super) key: Vec<Value>,
    pub(super) count: u64,
    /// The position of the oldest row.
    position: i64,
    /// The aggregates.
    pub(super) values: AggregateValues,
}

impl GroupSelection<'_> {
    /// Loads a page of the groups.
    pub(super) fn load_page<'p>(
        &'p self,
        paging: &'p PageParameters,
    ) -> BoxFuture<'p, Result<Page<LoadedGroup>, QueryError>> {
        Box::pin(async move {
            let database = self.rows.database;
            let view = self.rows.view()?;
            let table = view.table;
            let filter = self.rows.filter_sql(view)?;
            let has_extremes = self.aggregates.iter().any(|one| one.is_extreme());
            let shown = self.shown_list(table, has_extremes);
            let others = format!("{shown}, count(*), min({POSITION_COLUMN})");
            let list = aggregate_list(view, &others, &self.aggregates)?;
            let total = if paging.total {
                Some(self.count(table, &filter).await?)
            } else {
                None
            };
            let group = database.dialect().json_array_expression(&list.text);
            let after = self.after_cursor(view, paging).await?;
            let conditions = SqlFragment::join([filter].into_iter().chain(after), " AND ");
            // An index has the order of the prefix.
            let prefix = self.indexed_prefix(table).into_iter();
            let lists: Vec<_> = prefix.chain([self.column_list(table)]).collect();
            let columns = lists.join(", ");
            let statement = format!(
                "SELECT {group} FROM {} WHERE {} GROUP BY {columns} ORDER BY {columns} LIMIT ?",
                quote_name(table.model.name),
                conditions.text
            );
            let parameters = list
                .parameters
                .into_iter()
                .chain(conditions.parameters)
                .chain([paging.limit_plus_one()])
                .collect();
            let numbered = database.replace_question_marks(&statement, 0);
            let cost = QueryCost::Aggregate;
            let texts = database
                .fetch_texts_up_to(cost, numbered, parameters, paging.most_bytes)
                .await
                .map_err(|error| explain_overflow(error, &self.aggregates))?;
            let groups = texts.try_map(|json| self.read_group(&json))?;
            Page::new(groups, paging, total, |groups| {
                self.cursor_between(table, groups)
            })
        })
    }

    /// Reads the JSON of a group: the key, the number of rows, the position of the oldest row, and the aggregates.
    fn read_group(&self, json: &str) -> Result<LoadedGroup, QueryError> {
        let mut values = AggregateValues::parse(json)?;
        let key = self.columns.iter().map(|_| values.next());
        Ok(LoadedGroup {
            key: key.collect::<Result<_, _>>()?,
            count: values.next()?,
            position: values.next()?,
            values,
        })
    }

    fn cursor_between(
        &self,
        table: &Table,
        [last, next]: [&LoadedGroup; 2],
    ) -> Result<PageCursor, QueryError> {
        let sorted = |group: &LoadedGroup| {
            Ok::<_, QueryError>(SortedRow {
                position: group.position,
                values: self.key_cells(table, &group.key)?,
            })
        };
        let exact = PageCursor::Group {
            key: last.key.clone().into(),
        };
        exact.shortened(self.columns, [&sorted(last)?, &sorted(next)?])
    }

    /// Returns the values of the compared columns that a group with this key has.
    fn key_cells(&self, table: &Table, key: &[Value]) -> Result<Vec<Cell>, QueryError> {
        let columns = self.columns.iter().zip(self.conversions).zip(key);
        let cells = columns.map(|((column, convert), part)| {
            let cell = convert(part, column)?;
            Ok(table.compared_cell(column, cell))
        });
        cells.collect()
    }

    /// Returns the number of groups.
    async fn count(&self, table: &Table, filter: &SqlFragment) -> Result<u64, QueryError> {
        let statement = format!(
            "SELECT count(*) FROM (SELECT 1 FROM {} WHERE {} GROUP BY {}) AS groups_of_rows",
            quote_name(table.model.name),
            filter.text,
            self.column_list(table)
        );
        let parameters = filter.parameters.clone();
        let database = self.rows.database;
        let counted = database.fetch_count(QueryCost::Aggregate, statement, parameters);
        Ok(counted.await?)
    }

    /// Returns the prefix of the first column as SQL, if an index contains the prefix instead of the text.
    fn indexed_prefix(&self, table: &Table) -> Option<String> {
        let first = self.columns.first()?;
        self.rows.database.dialect().indexed_prefix(table, first)
    }

    /// Returns the columns, as SQL, that the rows are grouped by.
    fn column_list(&self, table: &Table) -> String {
        let columns = self.columns.iter();
        let compared: Vec<_> = columns
            .map(|column| table.compared_column(column))
            .collect();
        compared.join(", ")
    }

    /// Returns the columns, as SQL, whose values the key of a group shows. If the rows of a group differ in a value,
    /// the oldest row shows it.
    fn shown_list(&self, table: &Table, has_extremes: bool) -> String {
        let shown = self.columns.iter().map(|column| {
            let name = quote_name(column);
            if table.compared_column(column) == name {
                name
            } else {
                let database = self.rows.database;
                database
                    .dialect()
                    .first_value_expression(&name, has_extremes)
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Returns the condition that a group comes after the last group of the page before.
    async fn after_cursor(
        &self,
        view: TableView<'_>,
        paging: &PageParameters,
    ) -> Result<Option<SqlFragment>, QueryError> {
        let Some(cursor) = &paging.after else {
            return Ok(None);
        };
        let table = view.table;
        let (cells, operator) = match cursor {
            PageCursor::Long(cursor) => {
                let rows = self.rows.load_rows_at(view, cursor.positions()).await?;
                let sorted = rows.iter().map(|row| self.sorted_row(table, row));
                let start = cursor.find_start(self.columns, sorted.collect())?;
                let PageStart { row, is_included } = start;
                (row.values, if is_included { ">=" } else { ">" })
            }
            cursor => {
                let key = cursor.group_key(self.columns.len())?;
                let cells = self.key_cells(table, key);
                (cells.map_err(|_| PageCursor::foreign_cursor_error())?, ">")
            }
        };
        for cell in &cells {
            PageCursor::check_storable(cell, self.rows.database)?;
        }
        let marks = vec!["?"; cells.len()].join(", ");
        let text = format!("({}) {operator} ({marks})", self.column_list(table));
        let prefix = self.indexed_prefix(table).zip(cells.first().cloned());
        let by_prefix = prefix.map(|(prefix, first)| {
            SqlFragment::new(format!("{prefix} >= ?"), vec![prefix_of(first)])
        });
        let exact = SqlFragment::new(text, cells);
        let conditions = by_prefix.into_iter().chain([exact]);
        Ok(Some(SqlFragment::join(conditions, " AND ")))
    }

    /// Returns a row with the values that it is grouped by.
    fn sorted_row(&self, table: &Table, row: &TableRow) -> SortedRow {
        let cell = |column: &&'static str| {
            let mut columns = table.model.columns.iter();
            let index = columns.position(|known| known.name == *column);
            let cell = index.and_then(|index| row.cells.get(index));
            table.compared_cell(column, cell.cloned().unwrap_or(Cell::Null))
        };
        SortedRow {
            position: row.place,
            values: self.columns.iter().map(cell).collect(),
        }
    }
}
