//! A condition on the rows of a read model, and the SQL that it becomes.

use std::marker::PhantomData;

use super::{QueryError, sql_fragment::SqlFragment, table_view::TableView};
use crate::projection::{
    Cell, CellError, ColumnType, RowIdentity, RowKey,
    table_statements::quote_name,
    text_prefix::{is_shorter_than_prefix, text_prefix},
};

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
    pub(super) expression: Expression,
    rows: PhantomData<fn() -> R>,
}

/// The tree of a condition, without its row type.
#[derive(Debug)]
pub(super) enum Expression {
    Compare(&'static str, ComparisonOperator, Cell),
    OneOf(&'static str, Vec<Cell>),
    Contains(&'static str, String),
    IsNull(&'static str),
    IsNotNull(&'static str),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    /// A value does not fit its column.
    Invalid(CellError),
}

/// The operator that compares a column with one value.
#[derive(Debug, Clone, Copy)]
pub(super) enum ComparisonOperator {
    Equal,
    NotEqual,
    AtLeast,
    AtMost,
    Above,
    Below,
}

impl ComparisonOperator {
    /// Returns the SQL operator.
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

impl ComparisonOperator {
    /// Returns the SQL operator that the prefixes of two texts meet if the texts compare like this, unless any
    /// prefixes can.
    const fn prefix_operator(self) -> Option<&'static str> {
        match self {
            Self::Equal => Some("="),
            Self::NotEqual => None,
            Self::AtLeast | Self::Above => Some(">="),
            Self::AtMost | Self::Below => Some("<="),
        }
    }
}

impl<R> Condition<R> {
    const fn new(expression: Expression) -> Self {
        let rows = PhantomData;
        Self { expression, rows }
    }

    /// Returns the condition that a column compares like this with a value.
    pub(super) fn compare<V: ColumnType>(
        column: &'static str,
        comparison: ComparisonOperator,
        value: &V,
    ) -> Self {
        Self::new(match value.to_cell(column) {
            Ok(cell) => Expression::Compare(column, comparison, cell),
            Err(error) => Expression::Invalid(error),
        })
    }

    pub(super) fn one_of<V: ColumnType>(column: &'static str, values: &[V]) -> Self {
        let cells = values.iter().map(|value| value.to_cell(column));
        match cells.collect::<Result<Vec<_>, _>>() {
            // `IN (NULL)` is never true in SQL.
            Ok(cells) if cells.contains(&Cell::Null) => {
                let cells = cells.into_iter().filter(|cell| *cell != Cell::Null);
                let present = Expression::OneOf(column, cells.collect());
                Self::new(present).or(Self::is_null(column))
            }
            Ok(cells) => Self::new(Expression::OneOf(column, cells)),
            Err(error) => Self::new(Expression::Invalid(error)),
        }
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
}

/// Returns the key of the only row that can meet all conditions, if they tell it.
pub(super) fn selected_key(conditions: &[Expression], identity: RowIdentity) -> Option<Cell> {
    let required = |column: &str| conditions.iter().find_map(|one| one.required_cell(column));
    if let Some(key) = required(identity.key_column()) {
        return Some(key.clone());
    }
    let RowIdentity::Columns(names) = identity else {
        return None;
    };
    let part = |column: &&str| RowKey::from_cell(required(column)?.clone());
    RowKey::from_parts(names.iter().map(part).collect::<Option<_>>()?).map(Cell::from)
}

/// Returns the condition on the whole key of a row if the conditions tell each of its fields. An index contains the key,
/// and none contains the fields together.
pub(super) fn composite_key_condition(
    conditions: &[Expression],
    identity: RowIdentity,
) -> Option<Expression> {
    match identity {
        RowIdentity::Columns(_) => selected_key(conditions, identity)
            .map(|key| Expression::equal_to(identity.key_column(), key)),
        RowIdentity::Column(_) | RowIdentity::Event => None,
    }
}

impl Expression {
    pub(super) const fn equal_to(column: &'static str, cell: Cell) -> Self {
        Self::Compare(column, ComparisonOperator::Equal, cell)
    }

    /// Returns the value that a column has in all rows that meet the condition.
    fn required_cell(&self, column: &str) -> Option<&Cell> {
        match self {
            Self::Compare(name, ComparisonOperator::Equal, cell) if *name == column => Some(cell),
            _ => None,
        }
    }

    /// Returns the condition in SQL, with a `?` for each of its parameters.
    pub(super) fn to_sql(&self, view: TableView<'_>) -> Result<SqlFragment, QueryError> {
        let is_null = |column, is| SqlFragment::new(format!("{} {is}", quote_name(column)), vec![]);
        let (column, condition) = match self {
            // `= NULL` is never true in SQL.
            Self::Compare(column, ComparisonOperator::Equal, Cell::Null) | Self::IsNull(column) => {
                return view.restrict(column, is_null(column, "IS NULL"), true);
            }
            Self::Compare(column, ComparisonOperator::NotEqual, Cell::Null)
            | Self::IsNotNull(column) => (column, is_null(column, "IS NOT NULL")),
            // No value is larger or smaller than a missing one.
            Self::Compare(column, _, Cell::Null) => (column, SqlFragment::new("1 = 0", vec![])),
            Self::Compare(column, comparison, cell) => {
                (column, compare_in(view, column, *comparison, cell))
            }
            Self::OneOf(column, cells) => (column, one_of_in(view, column, cells)),
            Self::Contains(column, substring) => (column, contains_in(view, column, substring)?),
            Self::And(one, other) => return join_sides(one, other, view, " AND "),
            Self::Or(one, other) => return join_sides(one, other, view, " OR "),
            Self::Invalid(error) => return Err(error.clone().into()),
        };
        view.restrict(column, condition, false)
    }
}

fn compare_in(
    view: TableView<'_>,
    column: &str,
    comparison: ComparisonOperator,
    cell: &Cell,
) -> SqlFragment {
    let TableView {
        database, table, ..
    } = view;
    let prefix = database.dialect().indexed_prefix(table, column);
    let cell = table.compared_cell(column, cell.clone());
    let column = table.compared_column(column);
    compare(&column, comparison, cell, prefix.as_deref())
}

fn one_of_in(view: TableView<'_>, column: &str, cells: &[Cell]) -> SqlFragment {
    let TableView {
        database, table, ..
    } = view;
    if cells.is_empty() {
        return SqlFragment::new("1 = 0", Vec::new());
    }
    let compared: Vec<_> = cells
        .iter()
        .map(|cell| table.compared_cell(column, cell.clone()))
        .collect();
    let exact = one_of(&table.compared_column(column), compared.clone());
    match database.dialect().indexed_prefix(table, column) {
        None => exact,
        Some(prefix) => {
            let prefixes = compared.into_iter().map(prefix_of).collect();
            SqlFragment::join([one_of(&prefix, prefixes), exact], " AND ")
        }
    }
}

fn contains_in(
    view: TableView<'_>,
    column: &'static str,
    substring: &str,
) -> Result<SqlFragment, QueryError> {
    let TableView {
        database, table, ..
    } = view;
    let searched = table.search_column(column, substring);
    let (column, part) = searched.ok_or(QueryError::NotSearchable {
        table: table.model.name,
        column,
    })?;
    let Some(part) = part else {
        return Ok(SqlFragment::new("1 = 0", Vec::new()));
    };
    let conditions = database
        .dialect()
        .substring_conditions(table, &column, &part);
    let fragments = conditions
        .into_iter()
        .map(|(text, cell)| SqlFragment::new(text, vec![cell]));
    Ok(SqlFragment::join(fragments, " AND "))
}

/// Returns the condition that a column, which is given as SQL, compares like this with a value. If an index contains
/// the prefix of the column, a condition on it precedes the exact one.
fn compare(
    column: &str,
    comparison: ComparisonOperator,
    cell: Cell,
    prefix: Option<&str>,
) -> SqlFragment {
    let comparison_sql = format!("{column} {} ?", comparison.operator());
    let exact = SqlFragment::new(comparison_sql, vec![cell.clone()]);
    let Some((prefix, operator)) = prefix.zip(comparison.prefix_operator()) else {
        return exact;
    };
    let prefix_sql = format!("{prefix} {operator} ?");
    let helper = SqlFragment::new(prefix_sql, vec![prefix_of(cell.clone())]);
    match (comparison, &cell) {
        (ComparisonOperator::Equal, Cell::Text(text)) if is_shorter_than_prefix(text) => helper,
        _ => SqlFragment::join([helper, exact], " AND "),
    }
}

fn one_of(expression: &str, cells: Vec<Cell>) -> SqlFragment {
    let marks = vec!["?"; cells.len()].join(", ");
    SqlFragment::new(format!("{expression} IN ({marks})"), cells)
}

/// Returns the prefix of a text.
pub(super) fn prefix_of(cell: Cell) -> Cell {
    match cell {
        Cell::Text(text) => Cell::Text(text_prefix(&text)),
        other => other,
    }
}

fn join_sides(
    one: &Expression,
    other: &Expression,
    view: TableView<'_>,
    operator: &str,
) -> Result<SqlFragment, QueryError> {
    let sides = [one, other].map(|side| Ok(side.to_sql(view)?.in_parentheses()));
    let fragments: Result<Vec<_>, QueryError> = sides.into_iter().collect();
    Ok(SqlFragment::join(fragments?, operator))
}
