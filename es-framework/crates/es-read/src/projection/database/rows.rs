//! The columns that a table has and the cells that a row writes to them.

use super::super::{
    Cell, ColumnKind, RowIdentity, Table, row_changes::TableRow, row_identity, sql_names,
};

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

/// Returns all cells of a row in the order of `written_columns`.
pub(super) fn arrange_cells(table: &Table, row: TableRow) -> impl Iterator<Item = Cell> {
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
    [place]
        .into_iter()
        .chain(identity)
        .chain(row.cells)
        .chain(searched)
}

/// Returns the statement that fails if the table lacks a column. It selects no row.
pub(super) fn check_columns_statement(table: &Table) -> String {
    let columns = written_columns(table);
    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
    let name = sql_names::quote_name(&table.name());
    format!("SELECT {} FROM {name} WHERE 1 = 0", names.join(", "))
}
