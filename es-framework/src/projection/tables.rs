//! The SQL of read models.

use sha2::{Digest as _, Sha256};

use super::{Column, ColumnKind, Identity, Table};

pub(super) const CREATE_CHECKPOINTS: &str = "CREATE TABLE IF NOT EXISTS es_checkpoint \
     (model TEXT PRIMARY KEY, definition TEXT NOT NULL, position INTEGER, hash TEXT) STRICT";

pub(super) const READ_CHECKPOINT: &str =
    "SELECT definition, position, hash FROM es_checkpoint WHERE model = ?1";

pub(super) const WRITE_CHECKPOINT: &str = "INSERT INTO es_checkpoint (model, definition, position, hash) \
     VALUES (?1, ?2, ?3, ?4) ON CONFLICT (model) DO UPDATE SET \
     definition = excluded.definition, position = excluded.position, hash = excluded.hash";

/// Where a row stands among all.
pub(crate) const PLACE: &str = "es_place";
const SUBJECT: &str = "es_subject";

/// What belongs to a row besides its columns: first its place, then its subject if it is an event.
const fn is_event(table: &Table) -> bool {
    matches!(table.model.identity, Identity::Event)
}

/// The column that finds a row.
pub(crate) fn key_column(table: &Table) -> &'static str {
    match table.model.identity {
        Identity::Event => SUBJECT,
        Identity::Column(name) => name,
    }
}

/// The companion in lower case of a column.
pub(crate) fn lowered(column: &str) -> String {
    quoted(&format!("es_lower_{column}"))
}

/// The table of a read model and its indexes, under this name. STRICT refuses what does not fit its
/// declaration.
pub(super) fn create(table: &Table) -> Vec<String> {
    let name = table.model.name;
    let columns: String = table.model.columns.iter().map(column_definition).collect();
    let lowered: String = table
        .searched
        .iter()
        .map(|column| format!(", {} TEXT", lowered(column)))
        .collect();
    let subject = match table.model.identity {
        Identity::Event => format!(", {SUBJECT} TEXT NOT NULL"),
        Identity::Column(_) => String::new(),
    };
    let unique = if is_event(table) { "" } else { "UNIQUE " };
    let key = key_column(table);
    let mut statements = vec![
        format!(
            "CREATE TABLE IF NOT EXISTS {} ({PLACE} INTEGER PRIMARY KEY{subject}{columns}{lowered}) STRICT",
            quoted(name)
        ),
        create_index(name, key, unique, quoted(key)),
    ];
    for column in table.indexed.iter().filter(|column| **column != key) {
        let by = format!("{}, {PLACE}", quoted(column));
        statements.push(create_index(name, column, "", by));
    }
    statements
}

fn create_index(table: &str, column: &str, unique: &str, by: String) -> String {
    format!(
        "CREATE {unique}INDEX IF NOT EXISTS {} ON {} ({by})",
        quoted(&format!("{table}_{column}")),
        quoted(table),
    )
}

fn column_definition(column: &Column) -> String {
    let sql_type = match column.kind {
        ColumnKind::Text | ColumnKind::Timestamp | ColumnKind::Json => "TEXT",
        ColumnKind::Integer | ColumnKind::Boolean => "INTEGER",
        ColumnKind::Real => "REAL",
    };
    format!(", {} {sql_type}", quoted(column.name))
}

/// Removes the table of a read model.
pub(super) fn drop(table: &Table) -> String {
    format!("DROP TABLE IF EXISTS {}", quoted(table.model.name))
}

/// What the rows of a table depend on, as one short text: another one means that they have to be
/// made again.
pub(super) fn definition(table: &Table) -> String {
    let text = format!(
        "{:?} {:?} {}",
        create(table),
        table.model.events,
        table.model.version
    );
    let hash = Sha256::digest(text.as_bytes());
    hash.iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The names of what a row consists of, each of them written.
fn written(table: &Table) -> Vec<String> {
    let mut names = vec![PLACE.to_owned()];
    if is_event(table) {
        names.push(SUBJECT.to_owned());
    }
    names.extend(table.model.columns.iter().map(|column| quoted(column.name)));
    names.extend(table.searched.iter().map(|column| lowered(column)));
    names
}

/// Writes a row. A row of the same key is replaced, but keeps its place. An event that is there
/// already stays: it always makes the same row.
pub(super) fn upsert(table: &Table) -> String {
    let names = written(table);
    let parameters = vec!["?"; names.len()].join(", ");
    let on_conflict = if is_event(table) {
        format!("({PLACE}) DO NOTHING")
    } else {
        let key = quoted(key_column(table));
        let changed = names.iter().filter(|name| *name != PLACE && **name != key);
        let set: Vec<_> = changed
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        if set.is_empty() {
            format!("({key}) DO NOTHING")
        } else {
            format!("({key}) DO UPDATE SET {}", set.join(", "))
        }
    };
    format!(
        "INSERT INTO {} ({}) VALUES ({parameters}) ON CONFLICT {on_conflict}",
        quoted(table.model.name),
        names.join(", "),
    )
}

/// Removes the row of a key.
pub(super) fn delete(table: &Table) -> String {
    let key = quoted(key_column(table));
    format!("DELETE FROM {} WHERE {key} = ?", quoted(table.model.name))
}

/// The place and the columns of rows; what follows says which.
pub(crate) fn select(table: &Table) -> String {
    let columns: String = table
        .model
        .columns
        .iter()
        .map(|column| format!(", {}", quoted(column.name)))
        .collect();
    format!("SELECT {PLACE}{columns} FROM {}", quoted(table.model.name))
}

/// A name that may hold anything, as SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
