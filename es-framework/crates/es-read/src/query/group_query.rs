//! Groups of rows that have the same values in some columns, as typed grouping in SQL.

use serde_json::Value;

use super::{
    Aggregates, Column, Condition, OrderedValue, Page, PageParameters, QueryError, RowQuery,
    group_selection::{GroupSelection, KeyPartConversion},
};
use crate::projection::{Cell, ReadModel};

/// A query for groups of rows; [`RowQuery::group_by`] makes it.
///
/// ```
/// use es_framework::{prelude::*, query::{Column, Group, GroupQuery}};
///
/// /// Returns each title with the ids of its copies.
/// async fn copies_of_each<R: ReadModel>(
///     titles: GroupQuery<'_, R, [Column<R, String>; 1]>,
///     id: Column<R, Uuid>,
///     paging: &es_framework::query::PageParameters,
/// ) -> Result<Page<Group<[String; 1], Vec<Uuid>>>, QueryError> {
///     titles.page(id.collect(), paging).await
/// }
/// ```
#[derive(Debug)]
pub struct GroupQuery<'a, R, C> {
    rows: RowQuery<'a, R>,
    columns: C,
}

/// The columns that rows are grouped by: an array of columns of one type, or a tuple of two to four columns of any types.
///
/// ```
/// use es_framework::{prelude::*, query::{Column, Group}};
///
/// /// Returns how often each hall is booked in each month.
/// async fn bookings<R: ReadModel>(
///     context: &QueryContext<'_>,
///     hall: Column<R, String>,
///     month: Column<R, Date>,
/// ) -> Result<Page<Group<(String, Date), ()>>, QueryError> {
///     context.rows::<R>().group_by((hall, month)).page((), context.paging()).await
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "rows of `{R}` are not grouped by `{Self}`",
    label = "rows cannot be grouped by this",
    note = "write an array of columns of one type such as `[Booking::hall()]`, or a tuple of two to four columns such as `(Booking::hall(), Booking::month())`; all of them name columns of the read model whose rows are grouped"
)]
pub trait GroupColumns<R>: Send {
    /// The values that all rows of a group have: an array or a tuple.
    type Key;

    #[doc(hidden)]
    const CONVERSIONS: &'static [KeyPartConversion];

    #[doc(hidden)]
    fn names(&self) -> Vec<&'static str>;

    #[doc(hidden)]
    fn read(parts: Vec<Value>) -> Result<Self::Key, serde_json::Error>;
}

impl<R: ReadModel, T: OrderedValue, const N: usize> GroupColumns<R> for [Column<R, T>; N] {
    type Key = [T; N];

    const CONVERSIONS: &'static [KeyPartConversion] = {
        assert!(N > 0, "rows are grouped by at least one column");
        &[to_cell::<T> as KeyPartConversion; N]
    };

    fn names(&self) -> Vec<&'static str> {
        self.iter().map(|column| column.name()).collect()
    }

    fn read(parts: Vec<Value>) -> Result<[T; N], serde_json::Error> {
        let parts: Vec<T> = serde_json::from_value(parts.into())?;
        parts.try_into().map_err(|_| {
            let message = "a group has another number of columns than the query";
            <serde_json::Error as serde::de::Error>::custom(message)
        })
    }
}

macro_rules! tuples_of_columns {
    ($(($($part:ident $index:tt),*);)*) => {
        $(impl<R: ReadModel, $($part: OrderedValue),*> GroupColumns<R> for ($(Column<R, $part>,)*) {
            type Key = ($($part,)*);

            const CONVERSIONS: &'static [KeyPartConversion] = &[$(to_cell::<$part>),*];

            fn names(&self) -> Vec<&'static str> {
                vec![$(self.$index.name()),*]
            }

            fn read(parts: Vec<Value>) -> Result<Self::Key, serde_json::Error> {
                serde_json::from_value(parts.into())
            }
        })*
    };
}

tuples_of_columns! {
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
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
pub struct Group<K, V> {
    /// The values that all rows of the group have, in the order of the columns.
    pub key: K,
    /// The number of rows.
    pub count: u64,
    /// The values of the aggregates.
    pub values: V,
}

impl<'a, R: ReadModel> RowQuery<'a, R> {
    /// Groups the rows that have the same values in these columns. The groups are sorted by them,
    /// whatever [`RowQuery::sort`] says. Rows without a value in one of the columns are left out.
    #[must_use]
    pub fn group_by<C: GroupColumns<R>>(self, columns: C) -> GroupQuery<'a, R, C> {
        let names = columns.names().into_iter();
        let rows = names.fold(self, |rows, column| {
            rows.filter(Condition::is_not_null(column))
        });
        GroupQuery { rows, columns }
    }
}

impl<R: ReadModel, C: GroupColumns<R>> GroupQuery<'_, R, C> {
    /// Returns a page of the groups, sorted by their columns, with the aggregates of their rows. A page of groups with
    /// more than 8 MiB ends before its `limit`, with a cursor.
    ///
    /// # Errors
    /// A sum does not fit, the database failed, or the cursor belongs to another query.
    pub async fn page<A: Aggregates<R>>(
        self,
        aggregates: A,
        paging: &PageParameters,
    ) -> Result<Page<Group<C::Key, A::Output>>, QueryError> {
        let groups = GroupSelection {
            rows: &self.rows.selection,
            columns: &self.columns.names(),
            conversions: C::CONVERSIONS,
            aggregates: aggregates.expressions(),
        };
        let page = groups.load_page(paging).await?;
        page.try_map(|mut group| {
            let key = C::read(group.key)?;
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
