//! What of a row is written: its place, its columns and what the framework adds to them.

use super::super::{Cell, ColumnKind, Identity, Table, fold::StoredRow, tables};

/// A column that is written.
#[derive(Debug)]
pub(in crate::projection) struct Written {
    /// Its name as SQL.
    pub(in crate::projection) name: String,
    pub(in crate::projection) kind: ColumnKind,
}

/// The columns of a table in the order in which they are written.
pub(in crate::projection) fn written_columns(table: &Table) -> Vec<Written> {
    let column = |name: String, kind| Written { name, kind };
    let mut columns = vec![column(
        tables::POSITION_COLUMN.to_owned(),
        ColumnKind::Integer,
    )];
    if table.model.identity == Identity::Event {
        columns.push(column(tables::SUBJECT.to_owned(), ColumnKind::Text));
    }
    let declared = table.model.columns.iter();
    columns.extend(declared.map(|one| column(tables::quoted(one.name), one.kind)));
    let searched = table.searched.iter();
    columns.extend(searched.map(|name| column(tables::lowercase_column(name), ColumnKind::Text)));
    columns
}

/// The cells of a row in the same order.
pub(super) fn written(table: &Table, row: StoredRow) -> impl Iterator<Item = Cell> {
    let lowered: Vec<_> = table
        .searched
        .iter()
        .map(|name| {
            let mut columns = table.model.columns.iter();
            let index = columns.position(|column| column.name == *name);
            in_lower_case(index.and_then(|index| row.cells.get(index)))
        })
        .collect();
    let subject = match table.model.identity {
        Identity::Event => Some(row.subject.map_or(Cell::Null, Cell::Text)),
        Identity::Column(_) => None,
    };
    let place = Cell::Integer(row.place);
    [place]
        .into_iter()
        .chain(subject)
        .chain(row.cells)
        .chain(lowered)
}

fn in_lower_case(cell: Option<&Cell>) -> Cell {
    match cell {
        Some(Cell::Text(text)) => Cell::Text(text.to_lowercase()),
        _ => Cell::Null,
    }
}
