//! Groups of rows that have the same values in some columns, as typed grouping in SQL.

use super::{
    Aggregates, Column, Condition, OrderedValue, Page, PageParameters, QueryError, RowQuery,
    aggregate::{AggregateValues, aggregate_list, explain_overflow},
    condition::prefix_of,
    cursor::{PageCursor, PageStart, SortedRow},
    sql_fragment::SqlFragment,
    table_view::TableView,
};
use crate::projection::{
    Cell, CellError, QueryCost, ReadModel, Table, TableRow,
    table_statements::{POSITION_COLUMN, quote_name},
};

/// A query for groups of rows; [`RowQuery::group_by`] makes it.
///
/// ```
/// use es_framework::{prelude::*, query::{Column, Group, GroupQuery}};
///
/// /// Returns each title with the ids of its copies.
/// async fn copies_of_each<R: ReadModel>(
///     titles: GroupQuery<'_, R, String, 1>,
///     id: Column<R, Uuid>,
///     paging: &es_framework::query::PageParameters,
/// ) -> Result<Page<Group<String, 1, Vec<Uuid>>>, QueryError> {
///     titles.page(id.collect(), paging).await
/// }
/// ```
#[derive(Debug)]
pub struct GroupQuery<'a, R, T, const N: usize> {
    pub(super) rows: RowQuery<'a, R>,
    pub(super) columns: [Column<R, T>; N],
}

/// Some rows that have the same values in the columns that they are grouped by.
///
/// ```
/// use es_framework::query::Group;
///
/// let group = Group { key: ["Emma", "Jane Austen"], count: 3, values: Some(1_440) };
/// let [title, author] = group.key;
/// assert_eq!(format!("{title} by {author}"), "Emma by Jane Austen");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Group<T, const N: usize, V> {
    /// The values that all rows of the group have, in the order of the columns.
    pub key: [T; N],
    /// The number of rows.
    pub count: u64,
    /// The values of the aggregates.
    pub values: V,
}

impl<'a, R: ReadModel> RowQuery<'a, R> {
    /// Groups the rows that have the same values in these columns. The groups are sorted by them,
    /// whatever [`RowQuery::sort`] says. Rows without a value in one of the columns are left out.
    #[must_use]
    pub fn group_by<T: OrderedValue, const N: usize>(
        self,
        columns: [Column<R, T>; N],
    ) -> GroupQuery<'a, R, T, N> {
        const { assert!(N > 0, "rows are grouped by at least one column") };
        let present =
            |rows: Self, column: &Column<R, T>| rows.filter(Condition::is_not_null(column.name()));
        let rows = columns.iter().fold(self, present);
        GroupQuery { rows, columns }
    }
}

impl<R: ReadModel, T: OrderedValue, const N: usize> GroupQuery<'_, R, T, N> {
    /// Returns a page of the groups, sorted by their columns, with the aggregates of their rows. A page of groups with
    /// more than 8 MiB ends before its `limit`, with a cursor.
    ///
    /// # Errors
    /// A sum does not fit, the database failed, or the cursor belongs to another query.
    pub async fn page<A: Aggregates<R>>(
        self,
        aggregates: A,
        paging: &PageParameters,
    ) -> Result<Page<Group<T, N, A::Output>>, QueryError> {
        let database = self.rows.database;
        let view = self.rows.view()?;
        let table = view.table;
        let filter = self.rows.filter_sql(view)?;
        let expressions = aggregates.expressions();
        let has_extremes = expressions.iter().any(|one| one.is_extreme());
        let shown = self.shown_list(table, has_extremes);
        let others = format!("{shown}, count(*), min({POSITION_COLUMN})");
        let list = aggregate_list(view, &others, &expressions)?;
        let total = if paging.total {
            Some(self.count(table, &filter).await?)
        } else {
            None
        };
        let columns = self.column_list(table);
        let group = database.json_array_expression(&list.text);
        let after = self.after_cursor(view, paging).await?;
        let conditions = SqlFragment::join([filter].into_iter().chain(after), " AND ");
        // An index has the order of the prefix.
        let prefix = self.indexed_prefix(table);
        let columns = prefix.into_iter().chain([columns]).collect::<Vec<_>>();
        let columns = columns.join(", ");
        let statement = format!(
            "SELECT {group} FROM {} WHERE {} GROUP BY {columns} ORDER BY {columns} LIMIT ?",
            quote_name(table.model.name),
            conditions.text
        );
        let parameters = list.parameters.into_iter().chain(conditions.parameters);
        let parameters = parameters.chain([paging.limit_plus_one()]).collect();
        let statement = database.replace_question_marks(&statement, 0);
        let groups = database
            .fetch_texts(
                QueryCost::Aggregate,
                statement,
                parameters,
                paging.most_bytes,
            )
            .await
            .map_err(|error| explain_overflow(error, &aggregates))?;
        let groups = groups.try_map(|json| parse(&json, &aggregates))?;
        let page = Page::new(groups, paging, total, |groups| {
            self.cursor_between(table, groups)
        })?;
        Ok(page.map(|one| one.group))
    }

    /// Returns the cursor between the last group of a page and the group after it.
    fn cursor_between<V>(
        &self,
        table: &Table,
        [last, next]: [&StoredGroup<T, N, V>; 2],
    ) -> Result<PageCursor, QueryError> {
        let sorted = |stored: &StoredGroup<T, N, V>| {
            Ok::<_, QueryError>(SortedRow {
                position: stored.position,
                values: self.key_cells(table, &stored.group.key)?,
            })
        };
        let exact = PageCursor::from_group_key(&last.group.key)?;
        exact.shortened(&self.column_names(), [&sorted(last)?, &sorted(next)?])
    }

    /// Returns the values of the compared columns that a group with this key has.
    fn key_cells(&self, table: &Table, key: &[T; N]) -> Result<Vec<Cell>, QueryError> {
        let columns = self.columns.iter().zip(key);
        let cells = columns.map(|(column, value)| {
            let cell = value.to_cell(column.name())?;
            Ok::<_, CellError>(table.compared_cell(column.name(), cell))
        });
        Ok(cells.collect::<Result<_, _>>()?)
    }

    fn column_names(&self) -> [&'static str; N] {
        self.columns.map(Column::name)
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
        Ok(self
            .rows
            .database
            .fetch_count(QueryCost::Aggregate, statement, parameters)
            .await?)
    }

    /// Returns the prefix of the first column as SQL, if an index contains the prefix instead of the text.
    fn indexed_prefix(&self, table: &Table) -> Option<String> {
        let first = self.columns.first()?;
        self.rows.database.indexed_prefix(table, first.name())
    }

    /// Returns the columns, as SQL, that the rows are grouped by.
    fn column_list(&self, table: &Table) -> String {
        self.columns
            .map(|column| table.compared_column(column.name()))
            .join(", ")
    }

    /// Returns the columns, as SQL, whose values the key of a group shows. If the rows of a group differ in a value,
    /// the oldest row shows it.
    fn shown_list(&self, table: &Table, has_extremes: bool) -> String {
        let shown = self.columns.map(|column| {
            let name = quote_name(column.name());
            if table.compared_column(column.name()) == name {
                name
            } else {
                let database = self.rows.database;
                database.first_value_expression(&name, has_extremes)
            }
        });
        shown.join(", ")
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
                let rows = rows.iter().map(|row| self.sorted_row(table, row)).collect();
                let PageStart { row, is_included } =
                    cursor.find_start(&self.column_names(), rows)?;
                (row.values, if is_included { ">=" } else { ">" })
            }
            cursor => {
                let cells = self.key_cells(table, &cursor.group_key()?);
                (cells.map_err(|_| PageCursor::foreign_cursor_error())?, ">")
            }
        };
        for cell in &cells {
            PageCursor::check_storable(cell, self.rows.database)?;
        }
        let marks = ["?"; N].join(", ");
        let text = format!("({}) {operator} ({marks})", self.column_list(table));
        let prefix = self.indexed_prefix(table).zip(cells.first().cloned());
        let prefix = prefix.map(|(prefix, first)| {
            SqlFragment::new(format!("{prefix} >= ?"), vec![prefix_of(first)])
        });
        let exact = SqlFragment::new(text, cells);
        let conditions = prefix.into_iter().chain([exact]);
        Ok(Some(SqlFragment::join(conditions, " AND ")))
    }

    /// Returns a row with the values that it is grouped by.
    fn sorted_row(&self, table: &Table, row: &TableRow) -> SortedRow {
        let cell = |column: &Column<R, T>| {
            let mut columns = R::COLUMNS.iter();
            let index = columns.position(|known| known.name == column.name());
            let cell = index.and_then(|index| row.cells.get(index));
            table.compared_cell(column.name(), cell.cloned().unwrap_or(Cell::Null))
        };
        SortedRow {
            position: row.place,
            values: self.columns.iter().map(cell).collect(),
        }
    }
}

/// A group, with the position of its oldest row.
struct StoredGroup<T, const N: usize, V> {
    group: Group<T, N, V>,
    position: i64,
}

/// Reads the JSON of a group: the key, the number of rows, the position of the oldest row, and the aggregates.
fn parse<R, T: OrderedValue, const N: usize, A: Aggregates<R>>(
    json: &str,
    aggregates: &A,
) -> Result<StoredGroup<T, N, A::Output>, QueryError> {
    let mut values = AggregateValues::parse(json)?;
    let key: Result<Vec<T>, QueryError> = (0..N).map(|_| values.next()).collect();
    let key = key?.try_into().map_err(|_| {
        let message = "a group has another number of columns than the query";
        <serde_json::Error as serde::de::Error>::custom(message)
    })?;
    let (count, position) = (values.next()?, values.next()?);
    let values = aggregates.read(&mut values)?;
    let group = Group { key, count, values };
    Ok(StoredGroup { group, position })
}
