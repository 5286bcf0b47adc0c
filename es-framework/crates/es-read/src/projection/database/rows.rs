//! The columns that a table has and the cells that a row writes to them.

use super::super::{
    Cell, ColumnKind, RowIdentity, Table,
    row_changes::{RowVersion, TableRow},
    row_identity, sql_names,
};
#[cfg(feature = "postgres")]
use es_sql::CellType;

/// A column of a table: one of the read model or one of the framework.
#[derive(Debug)]
pub(crate) struct TableColumn {
    /// The name as SQL.
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
}

/// Returns the columns of a table in the order in which rows write them.
pub(crate) fn written_columns(table: &Table) -> Vec<TableColumn> {
    let column = |name: String, kind| TableColumn { name, kind };
    let mut columns = vec![column(
        sql_names::POSITION_COLUMN.to_owned(),
        ColumnKind::Integer,
    )];
    match table.model.identity {
        RowIdentity::Event => {
            columns.push(column(row_identity::SUBJECT.to_owned(), ColumnKind::Text))
        }
        RowIdentity::Columns(_) => {
            let key = sql_names::quote_name(row_identity::COMPOSITE_KEY);
            columns.push(column(key, ColumnKind::Text));
        }
        RowIdentity::Column(_) => {}
    }
    let declared = table.model.columns.iter();
    columns.extend(declared.map(|one| {
        // The database knows no difference. A name that was declared as a text before needs no rebuild.
        let kind = match one.kind {
            ColumnKind::Name => ColumnKind::Text,
            kind => kind,
        };
        column(sql_names::quote_name(one.name), kind)
    }));
    let searched = table.searched.iter();
    columns.extend(searched.map(|(name, form)| {
        let name = sql_names::quoted_search_column(name, *form);
        column(name, ColumnKind::Text)
    }));
    columns
}

/// Returns the name of a table as a parameter.
pub(super) fn name_of(table: &Table) -> Cell {
    Cell::Text(table.name().into_owned())
}

/// Returns all cells of each row in the order of `written_columns`.
pub(super) fn arrange_rows(table: &Table, rows: Vec<RowVersion>) -> Vec<Vec<Cell>> {
    let rows = rows.into_iter();
    rows.map(|version| arrange_cells(table, version.row))
        .collect()
}

/// Returns all cells of a row in the order of `written_columns`.
fn arrange_cells(table: &Table, row: TableRow) -> Vec<Cell> {
    let searched: Vec<_> = table
        .searched
        .iter()
        .map(|(name, form)| {
            let mut columns = table.model.columns.iter();
            let index = columns.position(|column| column.name == *name);
            match index.and_then(|index| row.cells.get(index)) {
                Some(Cell::Text(text)) => Cell::Text(form.convert(text)),
                _ => Cell::Null,
            }
        })
        .collect();
    let model = &table.model;
    let identity = match model.identity {
        RowIdentity::Event => Some(row.subject.map_or(Cell::Null, Cell::Text)),
        RowIdentity::Columns(_) => {
            let key = model.identity.find_key(model.columns, &row.cells);
            Some(key.map_or(Cell::Null, Cell::from))
        }
        RowIdentity::Column(_) => None,
    };
    let place = Cell::Integer(row.place);
    let framework = [place].into_iter().chain(identity);
    framework.chain(row.cells).chain(searched).collect()
}

/// Returns the columns of rows, given all cells of each.
#[cfg(feature = "postgres")]
pub(super) fn columns_of_rows(table: &Table, rows: Vec<Vec<Cell>>) -> Vec<(CellType, Vec<Cell>)> {
    let written = written_columns(table).into_iter();
    let mut columns: Vec<_> = written
        .map(|column| (cell_type(column.kind), Vec::with_capacity(rows.len())))
        .collect();
    for row in rows {
        for ((_, column), cell) in columns.iter_mut().zip(row) {
            column.push(cell);
        }
    }
    columns
}

#[cfg(feature = "postgres")]
const fn cell_type(kind: ColumnKind) -> CellType {
    match kind {
        ColumnKind::Text
        | ColumnKind::Name
        | ColumnKind::Timestamp
        | ColumnKind::Date
        | ColumnKind::Json => CellType::Text,
        ColumnKind::Integer => CellType::Integer,
        ColumnKind::Real => CellType::Real,
        ColumnKind::Boolean => CellType::Boolean,
    }
}

/// Returns the statement that fails if the table lacks a column. It selects no row.
pub(super) fn check_columns_statement(table: &Table) -> String {
    let columns = written_columns(table);
    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
    let name = sql_names::quote_name(&table.name());
    format!("SELECT {} FROM {name} WHERE 1 = 0", names.join(", "))
}
