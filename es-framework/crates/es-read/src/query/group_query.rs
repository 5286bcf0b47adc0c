//! Groups of rows that have the same values in some columns, as typed grouping in SQL.

use serde_json::Value;

use super::{
    Aggregates, Column, Condition, OrderedValue, Page, PageParameters, QueryError, RowQuery,
    group_selection::GroupSelection,
};
use crate::projection::{Cell, ReadModel};

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
        let names = self.columns.map(Column::name);
        let groups = GroupSelection {
            rows: &self.rows.selection,
            columns: &names,
            to_cell: to_cell::<T>,
            aggregates: aggregates.expressions(),
        };
        let page = groups.load_page(paging).await?;
        page.try_map(|mut group| {
            let parts: Vec<T> = group
                .key
                .into_iter()
                .map(serde_json::from_value)
                .collect::<Result<_, _>>()?;
            let key = parts.try_into().map_err(|_| {
                let message = "a group has another number of columns than the query";
                <serde_json::Error as serde::de::Error>::custom(message)
            })?;
            let count = group.count;
            let values = aggregates.read(&mut group.values)?;
            Ok(Group { key, count, values })
        })
    }
}

/// Converts a part of a key to a cell of its column.
fn to_cell<T: OrderedValue>(part: &Value, column: &'static str) -> Result<Cell, QueryError> {
    let value: T = serde_json::from_value(part.clone())?;
    Ok(value.to_cell(column)?)
}
