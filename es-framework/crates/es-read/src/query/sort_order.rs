//! The sort order of rows: its column, and its SQL.

use super::{QueryError, condition::prefix_of, cursor::PageStart, sql_fragment::SqlFragment};
use crate::projection::{Cell, Table, table_statements::POSITION_COLUMN};

/// The direction of a sort order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SortDirection {
    Ascending,
    Descending,
}

/// The column that the rows are sorted by, and the direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SortColumn {
    pub(super) column: &'static str,
    pub(super) direction: SortDirection,
}

impl SortColumn {
    /// Returns the column, with `-` before it if the largest value comes first.
    pub(super) fn name(self) -> String {
        let sign = match self.direction {
            SortDirection::Ascending => "",
            SortDirection::Descending => "-",
        };
        format!("{sign}{}", self.column)
    }
}

/// A column that the clients of a query may sort by. [`Column::sort_choice`](super::Column::sort_choice) makes it.
///
/// ```
/// use es_framework::prelude::*;
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, num_pages: u32 }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     num_pages: u32,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, num_pages: event.num_pages }
/// #     }
/// # }
///
/// let choice = BookCopy::num_pages().sort_choice();
/// assert_eq!((choice.column, choice.member), ("num_pages", "numPages"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortChoice {
    /// The column's name in SQL.
    pub column: &'static str,
    /// The name that clients send: the column's member in JSON.
    pub member: &'static str,
}

impl SortChoice {
    /// Returns the values of the parameter `sort` for this column.
    #[doc(hidden)]
    #[must_use]
    pub fn values(self) -> [String; 2] {
        [self.member.to_owned(), format!("-{}", self.member)]
    }

    /// Returns the sort order that a client requests.
    pub(super) fn find(choices: &[Self], text: &str) -> Result<SortColumn, QueryError> {
        let (direction, member) = match text.strip_prefix('-') {
            Some(member) => (SortDirection::Descending, member),
            None => (SortDirection::Ascending, text),
        };
        let found = choices.iter().find(|choice| choice.member == member);
        let choice = found.ok_or_else(|| {
            let values: Vec<_> = choices.iter().flat_map(|choice| choice.values()).collect();
            QueryError::invalid("sort", format!("must be one of {}", values.join(", ")))
        })?;
        let column = choice.column;
        Ok(SortColumn { column, direction })
    }
}

/// The SQL of a sort order. Rows with the same value are sorted by their positions.
#[derive(Debug)]
pub(super) struct SortKey {
    /// The prefix of the texts, which an index contains. It precedes the texts and has their order.
    prefix: Option<String>,
    value: String,
    direction: SortDirection,
}

impl SortKey {
    /// Sorts by the values of a column.
    pub(super) fn exact(table: &Table, order: SortColumn, prefix: Option<String>) -> Self {
        Self {
            prefix,
            value: table.compared_column(order.column),
            direction: order.direction,
        }
    }

    /// Sorts by the prefix of a column alone, as the index does. This is the order of the texts that are
    /// shorter than the prefix.
    pub(super) const fn by_prefix(order: SortColumn, prefix: String) -> Self {
        Self {
            prefix: None,
            value: prefix,
            direction: order.direction,
        }
    }

    /// Returns what follows `ORDER BY`.
    pub(super) fn order_clause(&self) -> String {
        let end = match self.direction {
            SortDirection::Ascending => "",
            SortDirection::Descending => " DESC",
        };
        let prefix = self.prefix.as_deref().into_iter();
        let columns = prefix.chain([&*self.value, POSITION_COLUMN]);
        let keys: Vec<_> = columns.map(|column| format!("{column}{end}")).collect();
        keys.join(", ")
    }

    /// Returns the condition that a row belongs to the page that begins at a row, or to a later one.
    pub(super) fn start_condition(&self, start: &PageStart) -> SqlFragment {
        let (operator, including) = match self.direction {
            SortDirection::Ascending => (">", ">="),
            SortDirection::Descending => ("<", "<="),
        };
        let values = &start.row.values;
        let prefix = self.prefix.as_ref().map(|prefix| {
            let values = values.iter().cloned().map(prefix_of);
            SqlFragment::new(format!("{prefix} {including} ?"), values.collect())
        });
        let operator = if start.is_included {
            including
        } else {
            operator
        };
        let text = format!("({}, {POSITION_COLUMN}) {operator} (?, ?)", self.value);
        let position = Cell::Integer(start.row.position);
        let parameters = values.iter().cloned().chain([position]);
        let exact = SqlFragment::new(text, parameters.collect());
        SqlFragment::join(prefix.into_iter().chain([exact]), " AND ")
    }
}
