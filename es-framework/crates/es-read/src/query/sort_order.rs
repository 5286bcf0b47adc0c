//! The sort order of rows: its column, and its SQL.

use super::{
    condition::prefix_of, cursor::PageStart, page::SortDirection, sql_fragment::SqlFragment,
};
use crate::projection::{Cell, Table, table_statements::POSITION_COLUMN};

/// The column that the rows are sorted by, and the direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct SortColumn {
    pub(super) column: &'static str,
    pub(super) direction: SortDirection,
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
        let columns = [&*self.value, POSITION_COLUMN];
        let columns = self.prefix.as_deref().into_iter().chain(columns);
        let columns: Vec<_> = columns.map(|column| format!("{column}{end}")).collect();
        columns.join(", ")
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
        let parameters = values.iter().cloned();
        let parameters = parameters.chain([Cell::Integer(start.row.position)]);
        let exact = SqlFragment::new(text, parameters.collect());
        SqlFragment::join(prefix.into_iter().chain([exact]), " AND ")
    }
}
