//! Groups of rows that have the same values in some columns, as typed grouping in SQL.

use serde::de::DeserializeOwned;

use super::{
    Column, Condition, OrderedValue, Page, PageParameters, QueryError, RowQuery,
    condition::SqlFragment, cursor::PageCursor,
};
use crate::projection::{
    Cell, ReadModel, Table,
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
/// ) -> Result<Page<Group<String, 1, Uuid>>, QueryError> {
///     titles.collect_page(id, id.one_of::<Uuid>(&[]), paging).await
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
/// let group = Group { key: ["Emma", "Jane Austen"], count: 3, collected: vec![7, 9] };
/// let [title, author] = group.key;
/// assert_eq!(format!("{title} by {author}"), "Emma by Jane Austen");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Group<T, const N: usize, V> {
    /// The values that all rows of the group have, in the order of the columns.
    pub key: [T; N],
    /// The number of rows.
    pub count: u64,
    /// The values of the collected column, those of the oldest rows first.
    pub collected: Vec<V>,
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
    /// Returns a page of the groups, sorted by their columns. Each group counts its rows, and
    /// collects one column of those rows that meet the condition `only`.
    ///
    /// # Errors
    /// The database failed, or the cursor belongs to another query.
    pub async fn collect_page<V: OrderedValue>(
        self,
        collected: Column<R, V>,
        only: Condition<R>,
        paging: &PageParameters,
    ) -> Result<Page<Group<T, N, V>>, QueryError> {
        let database = self.rows.database;
        let table = self.rows.find_table()?;
        let filter = self.rows.filter_sql(table)?;
        let total = if paging.total {
            Some(self.count(table, &filter).await?)
        } else {
            None
        };
        let only = only.to_sql(database, table)?;
        let columns = self.column_list();
        let group = database.json_group_expression(
            &columns,
            &quote_name(collected.name()),
            POSITION_COLUMN,
            &only.text,
        );
        let after = self.after_cursor(paging)?;
        let conditions = SqlFragment::join([filter].into_iter().chain(after), " AND ");
        let statement = format!(
            "SELECT {group} FROM {} WHERE {} GROUP BY {columns} ORDER BY {columns} LIMIT ?",
            quote_name(table.model.name),
            conditions.text
        );
        let parameters = only.parameters.into_iter().chain(conditions.parameters);
        let parameters = parameters.chain([paging.limit_plus_one()]).collect();
        let statement = database.replace_question_marks(&statement, 0);
        let groups = database.fetch_texts(statement, parameters).await?;
        let groups: Result<Vec<_>, _> = groups.iter().map(|json| parse(json)).collect();
        Page::new(groups?, paging, total, |last| {
            PageCursor::from_group_key(&last.key)
        })
    }

    /// Returns the number of groups.
    async fn count(&self, table: &Table, filter: &SqlFragment) -> Result<u64, QueryError> {
        let statement = format!(
            "SELECT count(*) FROM (SELECT 1 FROM {} WHERE {} GROUP BY {}) AS groups_of_rows",
            quote_name(table.model.name),
            filter.text,
            self.column_list()
        );
        let parameters = filter.parameters.clone();
        Ok(self
            .rows
            .database
            .fetch_count(statement, parameters)
            .await?)
    }

    fn column_list(&self) -> String {
        self.columns
            .map(|column| quote_name(column.name()))
            .join(", ")
    }

    /// Returns the condition that a group comes after the last group of the page before.
    fn after_cursor(&self, paging: &PageParameters) -> Result<Option<SqlFragment>, QueryError> {
        let Some(cursor) = &paging.after else {
            return Ok(None);
        };
        let key: [T; N] = cursor.group_key()?;
        let cells: Result<Vec<_>, _> = self
            .columns
            .iter()
            .zip(&key)
            .map(|(column, value)| Cell::from_value(column.name(), value))
            .collect();
        let cells = cells.map_err(|_| PageCursor::foreign_cursor_error())?;
        for cell in &cells {
            PageCursor::check_storable(cell, self.rows.database)?;
        }
        let marks = ["?"; N].join(", ");
        let text = format!("({}) > ({marks})", self.column_list());
        Ok(Some(SqlFragment::new(text, cells)))
    }
}

/// Reads the JSON of a group: the key, the number of rows and the collected values.
fn parse<T: DeserializeOwned, const N: usize, V: DeserializeOwned>(
    json: &str,
) -> Result<Group<T, N, V>, QueryError> {
    let (key, count, collected): (Vec<T>, _, _) = serde_json::from_str(json)?;
    let key = key.try_into().map_err(|_| {
        let message = "a group has another number of columns than the query";
        <serde_json::Error as serde::de::Error>::custom(message)
    })?;
    Ok(Group {
        key,
        count,
        collected,
    })
}
