//! The SQL of read models whose rows are events.

use super::{Column, ColumnKind, ReadModelDescriptor};

pub(super) const CREATE_CHECKPOINT: &str = "CREATE TABLE IF NOT EXISTS es_checkpoint \
     (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER NOT NULL) STRICT";

pub(super) const READ_CHECKPOINT: &str = "SELECT position FROM es_checkpoint";

pub(super) const WRITE_CHECKPOINT: &str = "INSERT INTO es_checkpoint (one, position) VALUES (1, ?1) \
     ON CONFLICT (one) DO UPDATE SET position = excluded.position";

/// The table of a read model. STRICT refuses what does not fit its declaration.
pub(super) fn create(model: &ReadModelDescriptor) -> String {
    let columns: String = model.columns.iter().map(column_definition).collect();
    let table = quoted(model.name);
    format!(
        "CREATE TABLE IF NOT EXISTS {table} \
         (es_position INTEGER PRIMARY KEY, es_subject TEXT NOT NULL{columns}) STRICT; \
         CREATE INDEX IF NOT EXISTS {} ON {table} (es_subject)",
        quoted(&format!("{}_es_subject", model.name)),
    )
}

fn column_definition(column: &Column) -> String {
    let sql_type = match column.kind {
        ColumnKind::Text => "TEXT",
        ColumnKind::Integer | ColumnKind::Boolean => "INTEGER",
        ColumnKind::Real => "REAL",
    };
    format!(", {} {sql_type}", quoted(column.name))
}

/// Writes so many rows in one statement. A row that is there already stays: the same event always
/// makes the same row.
pub(super) fn insert(model: &ReadModelDescriptor, rows: usize) -> String {
    let names: String = model
        .columns
        .iter()
        .map(|column| format!(", {}", quoted(column.name)))
        .collect();
    let row = format!("(?, ?{})", ", ?".repeat(model.columns.len()));
    let values = vec![row; rows].join(", ");
    format!(
        "INSERT INTO {} (es_position, es_subject{names}) VALUES {values} \
         ON CONFLICT (es_position) DO NOTHING",
        quoted(model.name),
    )
}

/// A row as a JSON object with the members that the event had.
pub(crate) fn row_as_json(model: &ReadModelDescriptor) -> String {
    let members: Vec<String> = model
        .columns
        .iter()
        .map(|column| {
            let name = quoted(column.name);
            let value = match column.kind {
                ColumnKind::Boolean => format!("json(iif({name}, 'true', 'false'))"),
                ColumnKind::Text | ColumnKind::Integer | ColumnKind::Real => name,
            };
            format!("{}, {value}", text(column.member))
        })
        .collect();
    format!("json_object({})", members.join(", "))
}

/// A name that may hold anything, as SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}
