//! The typed columns of a read model: conditions, sort orders and groups name columns through them.

use std::{borrow::Cow, fmt, marker::PhantomData, sync::Arc};

use es_event::are_equal;
use jiff::{Timestamp, civil::Date};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::{Condition, SortChoice, ValueCount, condition::ComparisonOperator};
use crate::projection::{ColumnType, IndexKind, ReadModel, SearchForm, SearchedColumn};

/// A column of the read model `R` that holds values of the type `T`. `#[derive(ReadModel)]` generates
/// an associated function for each field, which is as visible as the field.
///
/// ```
/// use es_framework::prelude::*;
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String, num_pages: u32 }
/// #[derive(ReadModel)]
/// #[read_model(table = "book_copies", subject = "/books/{id}")]
/// struct BookCopy {
///     #[key]
///     id: Uuid,
///     title: String,
///     num_pages: u32,
///     due_at: Option<Timestamp>,
/// }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title, num_pages: event.num_pages, due_at: None }
/// #     }
/// # }
///
/// /// Returns the long books about rings that should be back, the longest overdue first.
/// async fn overdue_rings(context: &QueryContext<'_>) -> Result<Page<BookCopy>, QueryError> {
///     context
///         .rows::<BookCopy>()
///         .filter(BookCopy::title().contains("ring"))
///         .filter(BookCopy::num_pages().at_least(&400))
///         .filter(BookCopy::due_at().below(&context.now()))
///         .sort(BookCopy::due_at())
///         .page(context.paging())
///         .await
/// }
/// ```
pub struct Column<R, T> {
    name: &'static str,
    types: PhantomData<fn() -> (R, T)>,
}

impl<R, T> Clone for Column<R, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, T> Copy for Column<R, T> {}

impl<R, T> fmt::Debug for Column<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Column").field(&self.name).finish()
    }
}

impl<R, T> Column<R, T> {
    /// Names a column of the read model. The name becomes SQL as it is: it has to be one of
    /// [`ReadModel::COLUMNS`].
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        let types = PhantomData;
        Self { name, types }
    }

    /// Names the column of a field. A declared query takes it so, because the compiler's message about a field that the
    /// row does not have names its fields.
    #[doc(hidden)]
    #[must_use]
    pub const fn of_field(name: &'static str, _: fn(&R) -> &T) -> Self {
        Self::new(name)
    }

    /// Returns the column's name in SQL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl<R: ReadModel, T: ColumnType> Column<R, T> {
    /// Selects the rows whose column has this value.
    #[must_use]
    pub fn eq<V: ComparedWith<T>>(self, value: &V) -> Condition<R> {
        Condition::compare(self.name, ComparisonOperator::Equal, value)
    }

    /// Selects the rows whose column has another value than this one. As in SQL, rows without a
    /// value in this column are left out.
    #[must_use]
    pub fn ne<V: ComparedWith<T>>(self, value: &V) -> Condition<R> {
        Condition::compare(self.name, ComparisonOperator::NotEqual, value)
    }

    /// Selects the rows whose column has one of these values; without any value, no row.
    #[must_use]
    pub fn one_of<V: ComparedWith<T>>(self, values: &[V]) -> Condition<R> {
        Condition::one_of(self.name, values)
    }

    /// Selects the rows whose column has this value or a larger one.
    #[must_use]
    pub fn at_least<V: ComparedWith<T>>(self, value: &V) -> Condition<R>
    where
        T: OrderedValue,
    {
        Condition::compare(self.name, ComparisonOperator::AtLeast, value)
    }

    /// Selects the rows whose column has this value or a smaller one.
    #[must_use]
    pub fn at_most<V: ComparedWith<T>>(self, value: &V) -> Condition<R>
    where
        T: OrderedValue,
    {
        Condition::compare(self.name, ComparisonOperator::AtMost, value)
    }

    /// Selects the rows whose column has a larger value than this one.
    #[must_use]
    pub fn above<V: ComparedWith<T>>(self, value: &V) -> Condition<R>
    where
        T: OrderedValue,
    {
        Condition::compare(self.name, ComparisonOperator::Above, value)
    }

    /// Selects the rows whose column has a smaller value than this one.
    #[must_use]
    pub fn below<V: ComparedWith<T>>(self, value: &V) -> Condition<R>
    where
        T: OrderedValue,
    {
        Condition::compare(self.name, ComparisonOperator::Below, value)
    }

    /// Selects the rows whose text contains this substring, whatever the case of its letters and the way to write
    /// its characters. The column needs a `#[filter(contains)]` of a declared query, or `#[search]` above the field.
    #[must_use]
    pub fn contains(self, substring: &str) -> Condition<R>
    where
        T: SearchableText,
    {
        Condition::contains(self.name, substring)
    }

    /// Returns the preparation of this column for searches.
    #[must_use]
    pub const fn searched(self, form: SearchForm) -> SearchedColumn
    where
        T: SearchableText,
    {
        let column = self.name;
        SearchedColumn { column, form }
    }

    /// Returns the index for a query that compares or sorts by this column.
    #[must_use]
    pub const fn comparison_index(self) -> RequiredIndex {
        self.index(IndexKind::Compared)
    }

    /// Returns the choice of clients to sort by this column.
    #[must_use]
    pub const fn sort_choice(self) -> SortChoice
    where
        T: OrderedValue,
    {
        let (mut columns, mut member) = (R::COLUMNS, self.name);
        while let [first, rest @ ..] = columns {
            if are_equal(first.name, self.name) {
                member = first.member;
            }
            columns = rest;
        }
        let column = self.name;
        SortChoice { column, member }
    }

    /// Returns the full-text index for a query that searches this column for substrings.
    #[must_use]
    pub const fn search_index(self) -> RequiredIndex {
        self.index(IndexKind::Searched)
    }

    const fn index(self, by: IndexKind) -> RequiredIndex {
        RequiredIndex {
            table: R::TABLE,
            column: self.name,
            by,
        }
    }
}

impl<R: ReadModel, T: ColumnType> Column<R, Option<T>> {
    /// Selects the rows without a value in this column.
    #[must_use]
    pub fn is_none(self) -> Condition<R> {
        Condition::is_null(self.name)
    }

    /// Selects the rows with a value in this column.
    #[must_use]
    pub fn is_some(self) -> Condition<R> {
        Condition::is_not_null(self.name)
    }
}

/// A value that a column of the type `C` is compared with: one of the same type, or the value inside
/// an `Option`.
///
/// ```
/// use es_framework::{prelude::*, query::Column};
///
/// fn overdue<R: ReadModel>(due_at: Column<R, Option<Timestamp>>, now: Timestamp) -> bool {
///     let condition = due_at.below(&now); // a `Timestamp` is compared with an `Option<Timestamp>`
///     # drop(condition);
///     true
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not compared with `{C}`",
    label = "the row's field is another type",
    note = "give the query's field the type of the row's field"
)]
pub trait ComparedWith<C>: ColumnType {}

impl<T: ColumnType> ComparedWith<T> for T {}
impl<T: ColumnType> ComparedWith<Option<T>> for T {}

/// The type of a column whose values have an order, in Rust as in SQL.
///
/// ```
/// use es_framework::{prelude::*, query::{Column, OrderedValue}};
///
/// async fn smallest<R: ReadModel, T: OrderedValue>(
///     context: &QueryContext<'_>,
///     column: Column<R, T>,
/// ) -> Result<Option<R>, QueryError> {
///     context.rows::<R>().sort(column).first().await
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a column of type `{Self}` has no order",
    label = "this column has no order",
    note = "columns of texts, UUIDs, whole numbers, floats, timestamps, dates and `Option`s of these have an order; compare others with `eq` or `one_of`"
)]
pub trait OrderedValue: ColumnType {
    /// The type of a value that is not missing: `T` for an `Option<T>`.
    type Value: ColumnType;
}

macro_rules! ordered {
    ($($value:ty),*) => {
        $(impl OrderedValue for $value {
            type Value = Self;
        })*
    };
}

ordered! {
    String, Box<str>, Arc<str>, Cow<'static, str>,
    Uuid, i8, i16, i32, i64, u8, u16, u32, f32, f64, Timestamp, Date
}
impl<T: OrderedValue> OrderedValue for Option<T> {
    type Value = T::Value;
}

/// The type of a column whose values can be added.
///
/// ```
/// use es_framework::{prelude::*, query::{Column, NumericValue}};
///
/// async fn total<R: ReadModel, T: NumericValue>(
///     context: &QueryContext<'_>,
///     column: Column<R, T>,
/// ) -> Result<Option<T::Sum>, QueryError> {
///     context.rows::<R>().aggregate(column.sum()).await
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the values of a column of type `{Self}` are no numbers",
    label = "this column has no numbers",
    note = "`sum` and `average` need a column of whole numbers, floats or `Option`s of these"
)]
pub trait NumericValue: OrderedValue {
    /// The type of a sum: `i64` for whole numbers, and `f64` for floats.
    type Sum: DeserializeOwned;
}

macro_rules! numeric {
    ($($sum:ty: $($value:ty),*;)*) => {
        $($(impl NumericValue for $value {
            type Sum = $sum;
        })*)*
    };
}

numeric! {
    i64: i8, i16, i32, i64, u8, u16, u32;
    f64: f32, f64;
}
impl<T: NumericValue> NumericValue for Option<T> {
    type Sum = T::Sum;
}

/// The type of a column that is searched for substrings.
///
/// ```
/// use es_framework::{prelude::*, query::{Column, Condition, SearchableText}};
///
/// fn about_rings<R: ReadModel, T: SearchableText>(column: Column<R, T>) -> Condition<R> {
///     column.contains("ring")
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a column of type `{Self}` is not searched for substrings",
    label = "this column is no text",
    note = "`contains` needs a column of type `String` or `Option<String>`"
)]
pub trait SearchableText: ColumnType {}

impl SearchableText for String {}
impl SearchableText for Box<str> {}
impl SearchableText for Arc<str> {}
impl SearchableText for Cow<'static, str> {}
impl<T: SearchableText> SearchableText for Option<T> {}

/// Returns whether each column of this key is among the columns, with the number of values that they are compared
/// with, and has one value.
#[must_use]
pub const fn names_key(mut key: &[&str], compared: &[(RequiredIndex, ValueCount)]) -> bool {
    while let [column, others @ ..] = key {
        if !has_one_value(column, compared) {
            return false;
        }
        key = others;
    }
    true
}

const fn has_one_value(column: &str, mut compared: &[(RequiredIndex, ValueCount)]) -> bool {
    while let [(first, count), rest @ ..] = compared {
        if count.is_required() && are_equal(first.column, column) {
            return true;
        }
        compared = rest;
    }
    false
}

/// An index that a query needs on a column. [`Column::comparison_index`]
/// and [`Column::search_index`] make it.
///
/// ```
/// use es_framework::prelude::*;
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     title: String,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title.clone() }
/// #     }
/// # }
/// # #[derive(Query)]
/// # #[query(path = "/books", rows = BookCopy)]
/// # struct BrowseStock {
/// #     #[filter(contains)]
/// #     title: Option<String>,
/// # }
/// assert_eq!(BrowseStock::INDEXES, [BookCopy::title().search_index()]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequiredIndex {
    /// The table's name.
    pub table: &'static str,
    /// The column's name.
    pub column: &'static str,
    /// The operations that the index makes fast.
    pub by: IndexKind,
}
