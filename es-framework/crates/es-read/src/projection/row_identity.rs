//! The columns that tell the rows of a read model apart.

use super::{Cell, ColumnDescriptor, ReadModel, RowKey};

/// The column with the subject of a row that is an event.
pub(super) const SUBJECT: &str = "es_subject";
/// The column with the key of a row that has several fields. The fields have their own columns, too; this one lets
/// statements name a row by one value, whatever its key is.
pub(super) const COMPOSITE_KEY: &str = "es_key";

/// The identity of the rows of a read model.
///
/// ```
/// use es_framework::{prelude::*, projection::{RowIdentity, ReadModelDescriptor}};
///
/// #[derive(Event)]
/// #[event(read_model = "donations")]
/// struct BookDonatedEvent {
///     title: String,
/// }
///
/// let donations = ReadModelDescriptor::of_events::<BookDonatedEvent>();
/// assert_eq!(donations.identity, RowIdentity::Event);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowIdentity {
    /// Each row has its own value of this column.
    Column(&'static str),
    /// Each row has its own values of these columns together.
    Columns(&'static [&'static str]),
    /// Each row is an event. The rows are served at `/<name>`, the first row of a subject at
    /// `/<name>/<key>`.
    Event,
}

impl RowIdentity {
    pub(crate) const fn of<R: ReadModel>() -> Self {
        match R::KEY {
            [column] => Self::Column(column),
            columns => Self::Columns(columns),
        }
    }

    /// Returns the column of a row's key.
    pub(crate) const fn key_column(self) -> &'static str {
        match self {
            Self::Event => SUBJECT,
            Self::Column(name) => name,
            Self::Columns(_) => COMPOSITE_KEY,
        }
    }

    /// Returns the key in the cells of a row, unless the row is an event.
    pub(crate) fn find_key(&self, columns: &[ColumnDescriptor], cells: &[Cell]) -> Option<RowKey> {
        let names = match self {
            Self::Event => return None,
            Self::Column(name) => std::slice::from_ref(name),
            Self::Columns(names) => names,
        };
        let part = |name: &&str| {
            let index = columns.iter().position(|column| column.name == *name)?;
            RowKey::from_cell(cells.get(index)?.clone())
        };
        RowKey::from_parts(names.iter().map(part).collect::<Option<_>>()?)
    }
}
