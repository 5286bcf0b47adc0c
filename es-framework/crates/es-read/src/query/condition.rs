//! A condition on the rows of a read model, and the SQL that it becomes.

use std::marker::PhantomData;

use super::QueryError;
use crate::projection::{Cell, CellError, ColumnValue, Database, Table, tables::quoted};

/// A condition on the rows of the read model `R`. The methods of a [`Column`](super::Column) make it.
///
/// ```
/// use es_framework::{prelude::*, query::{Column, Condition}};
///
/// fn about_rings_or_long<R: ReadModel>(title: Column<R, String>, pages: Column<R, u32>) -> Condition<R> {
///     title.contains("ring").or(pages.above(&1_000))
/// }
/// ```
#[derive(Debug)]
pub struct Condition<R> {
    expression: Expression,
    rows: PhantomData<fn() -> R>,
}

#[derive(Debug)]
enum Expression {
    Compare(&'static str, Comparison, Cell),
    OneOf(&'static str, Vec<Cell>),
    Contains(&'static str, String),
    IsNull(&'static str),
    IsNotNull(&'static str),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    /// A value does not fit its column.
    Invalid(CellError),
}

/// A comparison of a column with one value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    AtLeast,
    AtMost,
    Above,
    Below,
}

impl Comparison {
    const fn operator(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::Below => "<",
        }
    }
}

impl<R> Condition<R> {
    const fn new(expression: Expression) -> Self {
        let rows = PhantomData;
        Self { expression, rows }
    }

    pub(super) fn compare<V: ColumnValue>(
        column: &'static str,
        comparison: Comparison,
        value: &V,
    ) -> Self {
        Self::new(match Cell::of(column, value) {
            Ok(cell) => Expression::Compare(column, comparison, cell),
            Err(error) => Expression::Invalid(error),
        })
    }

    pub(super) fn one_of<V: ColumnValue>(column: &'static str, values: &[V]) -> Self {
        let cells: Result<_, _> = values.iter().map(|value| Cell::of(column, value)).collect();
        Self::new(match cells {
            Ok(cells) => Expression::OneOf(column, cells),
            Err(error) => Expression::Invalid(error),
        })
    }

    pub(super) fn contains(column: &'static str, substring: &str) -> Self {
        Self::new(Expression::Contains(column, substring.to_owned()))
    }

    pub(super) const fn is_null(column: &'static str) -> Self {
        Self::new(Expression::IsNull(column))
    }

    pub(super) const fn is_not_null(column: &'static str) -> Self {
        Self::new(Expression::IsNotNull(column))
    }

    /// Selects the rows that meet both conditions.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (one, other) = (Box::new(self.expression), Box::new(other.expression));
        Self::new(Expression::And(one, other))
    }

    /// Selects the rows that meet at least one of the two conditions.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let (one, other) = (Box::new(self.expression), Box::new(other.expression));
        Self::new(Expression::Or(one, other))
    }

    /// Returns the condition in SQL, with a `?` for each of its parameters.
    pub(super) fn to_sql(&self, database: &Database, table: &Table) -> Result<SqlText, QueryError> {
        self.expression.to_sql(database, table)
    }
}

/// SQL with a `?` for each of its parameters.
#[derive(Debug, Default)]
pub(super) struct SqlText {
    pub(super) text: String,
    pub(super) parameters: Vec<Cell>,
}

impl SqlText {
    pub(super) fn new(text: impl Into<String>, parameters: Vec<Cell>) -> Self {
        let text = text.into();
        Self { text, parameters }
    }

    /// Joins several into one, such as with ` AND `.
    pub(super) fn join(parts: impl IntoIterator<Item = Self>, separator: &str) -> Self {
        let (mut texts, mut parameters) = (Vec::new(), Vec::new());
        for part in parts {
            texts.push(part.text);
            parameters.extend(part.parameters);
        }
        Self::new(texts.join(separator), parameters)
    }
}

impl Expression {
    fn to_sql(&self, database: &Database, table: &Table) -> Result<SqlText, QueryError> {
        Ok(match self {
            // `= NULL` is never true in SQL.
            Self::Compare(column, Comparison::Equal, Cell::Null) | Self::IsNull(column) => {
                SqlText::new(format!("{} IS NULL", quoted(column)), Vec::new())
            }
            Self::Compare(column, Comparison::NotEqual, Cell::Null) | Self::IsNotNull(column) => {
                SqlText::new(format!("{} IS NOT NULL", quoted(column)), Vec::new())
            }
            Self::Compare(column, comparison, cell) => {
                let text = format!("{} {} ?", quoted(column), comparison.operator());
                SqlText::new(text, vec![cell.clone()])
            }
            Self::OneOf(_, cells) if cells.is_empty() => SqlText::new("1 = 0", Vec::new()),
            Self::OneOf(column, cells) => {
                let marks = vec!["?"; cells.len()].join(", ");
                SqlText::new(format!("{} IN ({marks})", quoted(column)), cells.clone())
            }
            Self::Contains(column, substring) => {
                let conditions = database.contains(table, column, substring).into_iter();
                let conditions = conditions.map(|(text, cell)| SqlText::new(text, vec![cell]));
                SqlText::join(conditions, " AND ")
            }
            Self::And(one, other) => both(one, other, database, table, " AND ")?,
            Self::Or(one, other) => both(one, other, database, table, " OR ")?,
            Self::Invalid(error) => return Err(error.clone().into()),
        })
    }
}

fn both(
    one: &Expression,
    other: &Expression,
    database: &Database,
    table: &Table,
    operator: &str,
) -> Result<SqlText, QueryError> {
    let sides = [one, other].map(|side| {
        let SqlText { text, parameters } = side.to_sql(database, table)?;
        Ok(SqlText::new(format!("({text})"), parameters))
    });
    let sides: Result<Vec<_>, QueryError> = sides.into_iter().collect();
    Ok(SqlText::join(sides?, operator))
}
