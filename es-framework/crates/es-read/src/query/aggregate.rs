//! Aggregates of rows: counts, sums, averages, smallest and largest values, and lists, as typed SQL.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{
    Column, Condition, NumericValue, OrderedValue, QueryError, RowQuery, condition::Expression,
    sql_fragment::SqlFragment, table_view::TableView,
};
use crate::projection::{ColumnKind, ColumnType, ReadModel, table_statements::quote_name};

/// A value that the database computes from a column of several rows; the methods of a [`Column`] make it. Rows without a
/// value in the column, and rows where the caller does not see the column, do not contribute.
///
/// ```
/// use es_framework::{prelude::*, query::{Column, Condition}};
///
/// /// Returns the number of pages of all books, and those of the longest book that is not lent.
/// async fn pages<R: ReadModel>(
///     context: &QueryContext<'_>,
///     pages: Column<R, u32>,
///     is_available: Condition<R>,
/// ) -> Result<(Option<i64>, Option<u32>), QueryError> {
///     let rows = context.rows::<R>();
///     rows.aggregate((pages.sum(), pages.max().only(is_available))).await
/// }
/// ```
#[derive(Debug)]
pub struct Aggregate<R, V> {
    expression: AggregateExpression,
    read: fn(&'static str, &mut AggregateValues) -> Result<V, QueryError>,
    rows: PhantomData<fn() -> R>,
}

/// The function, the column and the rows of an aggregate.
#[doc(hidden)]
#[derive(Debug)]
pub struct AggregateExpression {
    function: AggregateFunction,
    pub(super) column: &'static str,
    only: Option<Expression>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AggregateFunction {
    Count,
    /// Adds the upper and the lower half of each integer by itself, so that no sum of 64 bits overflows.
    IntegerSum,
    RealSum,
    Average,
    Min,
    Max,
    List,
}

/// The values that the database has computed, each of which is JSON.
#[doc(hidden)]
#[derive(Debug)]
pub struct AggregateValues(std::vec::IntoIter<Box<RawValue>>);

/// One aggregate, or a tuple of up to six of them, or `()` for none.
///
/// ```
/// use es_framework::{prelude::*, query::{Aggregates, Column}};
///
/// fn smallest_and_largest<R: ReadModel>(
///     pages: Column<R, u32>,
/// ) -> impl Aggregates<R, Output = (Option<u32>, Option<u32>)> {
///     (pages.min(), pages.max())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no aggregate of rows of `{R}`",
    label = "this is no aggregate",
    note = "write an aggregate such as `BookCopy::num_pages().sum()`, a tuple of up to six of them, or `()`; all of them name columns of the read model whose rows are selected"
)]
pub trait Aggregates<R>: Send {
    /// The values of the aggregates: a tuple of them, if these are a tuple.
    type Output;

    #[doc(hidden)]
    fn expressions(&self) -> Vec<&AggregateExpression>;

    #[doc(hidden)]
    fn read(&self, values: &mut AggregateValues) -> Result<Self::Output, QueryError>;
}

impl<R, V> Aggregates<R> for Aggregate<R, V> {
    type Output = V;

    fn expressions(&self) -> Vec<&AggregateExpression> {
        vec![&self.expression]
    }

    fn read(&self, values: &mut AggregateValues) -> Result<V, QueryError> {
        (self.read)(self.expression.column, values)
    }
}

macro_rules! aggregates_of_tuples {
    ($(($($part:ident $index:tt),*);)*) => {
        $(impl<R, $($part: Aggregates<R>),*> Aggregates<R> for ($($part,)*) {
            type Output = ($($part::Output,)*);

            fn expressions(&self) -> Vec<&AggregateExpression> {
                let parts: &[Vec<_>] = &[$(self.$index.expressions()),*];
                parts.concat()
            }

            #[allow(clippy::unused_unit, reason = "the empty tuple reads nothing")]
            fn read(&self, _values: &mut AggregateValues) -> Result<Self::Output, QueryError> {
                Ok(($(self.$index.read(_values)?,)*))
            }
        })*
    };
}

aggregates_of_tuples! {
    ();
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
}

impl<R, V> Aggregate<R, V> {
    fn new(
        function: AggregateFunction,
        column: &'static str,
        read: fn(&'static str, &mut AggregateValues) -> Result<V, QueryError>,
    ) -> Self {
        let expression = AggregateExpression {
            function,
            column,
            only: None,
        };
        let rows = PhantomData;
        Self {
            expression,
            read,
            rows,
        }
    }

    /// Computes the value from those rows alone that meet the condition. It replaces the condition of an earlier call.
    #[must_use]
    pub fn only(mut self, condition: Condition<R>) -> Self {
        self.expression.only = Some(condition.expression);
        self
    }
}

impl<R: ReadModel, T: ColumnType> Column<R, T> {
    /// Counts the rows that have a value in this column.
    #[must_use]
    pub fn count(self) -> Aggregate<R, u64> {
        Aggregate::new(AggregateFunction::Count, self.name(), read_value)
    }

    /// Lists the values of this column, those of the oldest rows first.
    #[must_use]
    pub fn collect(self) -> Aggregate<R, Vec<T::Value>>
    where
        T: OrderedValue,
    {
        Aggregate::new(AggregateFunction::List, self.name(), read_value)
    }

    /// Returns the smallest value of this column, or `None` without any value. Texts are compared as they are, whatever
    /// `#[search(alphanumeric)]` says.
    #[must_use]
    pub fn min(self) -> Aggregate<R, Option<T::Value>>
    where
        T: OrderedValue,
    {
        Aggregate::new(AggregateFunction::Min, self.name(), read_value)
    }

    /// Returns the largest value of this column, as [`Column::min`] returns the smallest one.
    #[must_use]
    pub fn max(self) -> Aggregate<R, Option<T::Value>>
    where
        T: OrderedValue,
    {
        Aggregate::new(AggregateFunction::Max, self.name(), read_value)
    }

    /// Adds the values of this column: an `i64` for integers, an `f64` for floats, and `None` without any value. A sum
    /// that does not fit is an error, and never a wrong number.
    #[must_use]
    pub fn sum(self) -> Aggregate<R, Option<T::Sum>>
    where
        T: NumericValue,
    {
        if T::KIND == ColumnKind::Integer {
            Aggregate::new(AggregateFunction::IntegerSum, self.name(), read_integer_sum)
        } else {
            Aggregate::new(AggregateFunction::RealSum, self.name(), read_real)
        }
    }

    /// Returns the mean of the values of this column, or `None` without any value. A sum that does not fit is an error.
    #[must_use]
    pub fn average(self) -> Aggregate<R, Option<f64>>
    where
        T: NumericValue,
    {
        Aggregate::new(AggregateFunction::Average, self.name(), read_real)
    }
}

/// Reads a value as the database has computed it.
fn read_value<V: DeserializeOwned>(
    _: &'static str,
    values: &mut AggregateValues,
) -> Result<V, QueryError> {
    values.next()
}

/// Reads a sum or a mean of floats, behind which stands the number of values. SQLite has an infinity for a sum that
/// does not fit, or nothing for the difference of two infinities.
fn read_real<V: DeserializeOwned>(
    column: &'static str,
    values: &mut AggregateValues,
) -> Result<Option<V>, QueryError> {
    let (value, count): (Box<RawValue>, u64) = (values.next()?, values.next()?);
    match serde_json::from_str(value.get()) {
        Ok(Some(value)) => Ok(Some(value)),
        Ok(None) if count == 0 => Ok(None),
        Ok(None) | Err(_) => Err(QueryError::SumTooLarge { column }),
    }
}

/// Joins the halves of a sum.
fn read_integer_sum<S: DeserializeOwned>(
    column: &'static str,
    values: &mut AggregateValues,
) -> Result<Option<S>, QueryError> {
    let halves: (Option<i64>, Option<i64>) = (values.next()?, values.next()?);
    let (Some(upper), Some(lower)) = halves else {
        return Ok(None);
    };
    let sum = (i128::from(upper) << 32).saturating_add(lower.into());
    let value = serde_json::from_str(&sum.to_string());
    Ok(Some(value.map_err(|_| QueryError::SumTooLarge { column })?))
}

impl AggregateValues {
    /// Reads the elements of a JSON array.
    pub(super) fn parse(json: &str) -> Result<Self, QueryError> {
        let values: Vec<Box<RawValue>> = serde_json::from_str(json)?;
        Ok(Self(values.into_iter()))
    }

    pub(super) fn next<T: DeserializeOwned>(&mut self) -> Result<T, QueryError> {
        let value = self.0.next().unwrap_or_default();
        Ok(serde_json::from_str(value.get())?)
    }
}

impl AggregateExpression {
    /// Returns whether it is a sum of floats, or computed from one.
    pub(super) const fn may_overflow(&self) -> bool {
        matches!(
            self.function,
            AggregateFunction::RealSum | AggregateFunction::Average
        )
    }

    /// Returns true if SQL has `min` or `max`.
    pub(super) const fn is_extreme(&self) -> bool {
        matches!(
            self.function,
            AggregateFunction::Min | AggregateFunction::Max
        )
    }

    /// Returns the SQL of the values that [`Aggregates::read`] reads.
    pub(super) fn to_sql(&self, view: TableView<'_>) -> Result<SqlFragment, QueryError> {
        let only = match &self.only {
            None => view.restriction(self.column)?,
            Some(only) => Some(view.restrict(self.column, only.to_sql(view)?, false)?),
        };
        let column = quote_name(self.column);
        // A list alone would contain the missing values.
        let has_value = (self.function == AggregateFunction::List)
            .then(|| SqlFragment::new(format!("{column} IS NOT NULL"), Vec::new()));
        let conditions = only.map(SqlFragment::in_parentheses).into_iter();
        let all = SqlFragment::join(conditions.chain(has_value), " AND ");
        let filter = if all.is_present() {
            format!(" FILTER (WHERE {})", all.text)
        } else {
            String::new()
        };
        let parameters = all.parameters;
        let call = |function: &str| {
            SqlFragment::new(format!("{function}({column}){filter}"), parameters.clone())
        };
        Ok(match self.function {
            AggregateFunction::Count => call("count"),
            AggregateFunction::RealSum => SqlFragment::join([call("sum"), call("count")], ", "),
            AggregateFunction::Average => SqlFragment::join([call("avg"), call("count")], ", "),
            AggregateFunction::Min => call("min"),
            AggregateFunction::Max => call("max"),
            AggregateFunction::IntegerSum => {
                let halves = [">> 32", "& 4294967295"].map(|half| {
                    let sum = format!("sum({column} {half}){filter}");
                    SqlFragment::new(sum, parameters.clone())
                });
                SqlFragment::join(halves, ", ")
            }
            AggregateFunction::List => {
                let list = view
                    .database
                    .dialect()
                    .json_list_expression(&column, &filter);
                SqlFragment::new(list, parameters)
            }
        })
    }
}

impl<R: ReadModel> RowQuery<'_, R> {
    /// Computes aggregates of all rows.
    ///
    /// ```
    /// use es_framework::{prelude::*, query::Column};
    ///
    /// async fn mean_length<R: ReadModel>(
    ///     context: &QueryContext<'_>,
    ///     pages: Column<R, u32>,
    /// ) -> Result<Option<f64>, QueryError> {
    ///     context.rows::<R>().aggregate(pages.average()).await
    /// }
    /// ```
    ///
    /// # Errors
    /// A sum does not fit, or the database failed.
    pub async fn aggregate<A: Aggregates<R>>(self, aggregates: A) -> Result<A::Output, QueryError> {
        let loaded = self.selection.load_aggregates(aggregates.expressions());
        let mut values = loaded.await?;
        let _count: u64 = values.next()?;
        aggregates.read(&mut values)
    }
}
