//! The SQL of the tables of read models.

use super::{
    ColumnKind, RowIdentity, Table,
    database::{TableColumn, written_columns},
    search_index,
    sql_names::quoted_unique_column,
};
#[cfg(feature = "postgres")]
use super::{RowKey, text_prefix};

pub(crate) use super::sql_names::{POSITION_COLUMN, key_column, quote_name};

/// Moves the checkpoint of a shadow table to the table that it replaces.
pub(super) const MOVE_CHECKPOINT: &str = "UPDATE es_checkpoint SET model = $1 WHERE model = $2";

pub(super) const DELETE_CHECKPOINT: &str = "DELETE FROM es_checkpoint WHERE model = $1";

/// Advances the checkpoint of a table. The definition stays as it is in a row that is there.
pub(super) const ADVANCE_CHECKPOINT: &str = "INSERT INTO es_checkpoint (model, definition, position, hash) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (model) DO UPDATE SET \
     position = excluded.position, hash = excluded.hash";

/// Writes the definition of a table that is created, and its checkpoint.
pub(super) const WRITE_CHECKPOINT: &str = "INSERT INTO es_checkpoint (model, definition, position, hash) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (model) DO UPDATE SET \
     definition = excluded.definition, position = excluded.position, hash = excluded.hash";

const fn is_event(table: &Table) -> bool {
    matches!(table.model.identity, RowIdentity::Event)
}

/// Returns the index of the unique column among the written columns.
pub(super) fn unique_column_offset(table: &Table) -> usize {
    let column = quoted_unique_column(table);
    let columns = written_columns(table);
    let index = columns.iter().position(|written| written.name == column);
    index.unwrap_or_default()
}

/// Returns the columns with an index, that of the key first.
fn indexed_columns(table: &Table) -> impl Iterator<Item = &'static str> {
    let key = key_column(table);
    let others = table.indexed.iter().copied();
    [key]
        .into_iter()
        .chain(others.filter(move |column| *column != key))
}

/// Returns the names of the indexes of a table in SQLite. A shadow table keeps its indexes when it replaces the current
/// table, so the numbers of the two differ.
pub(super) fn index_names(table: &Table, number: u32) -> Vec<String> {
    let names = indexed_columns(table).map(|column| index_name(table, column, number));
    names.collect()
}

fn index_name(table: &Table, column: &str, number: u32) -> String {
    let name = format!("{}_{column}", table.model.name);
    match number {
        1 => name,
        number => format!("{name}_{number}"),
    }
}

/// Returns the statements that create the table of a read model, its indexes and its search index in
/// SQLite. STRICT refuses a value that does not fit its column.
pub(super) fn sqlite_create_table_statements(table: &Table, number: u32) -> Vec<String> {
    let number = Some(number);
    let mut statements = create_statements(table, number, sqlite_type, " STRICT", sqlite_index);
    statements.extend(search_index::create_fts_table_statement(table));
    statements
}

/// Returns the statements that create the table of a read model and its indexes in PostgreSQL, with a
/// search index if the server has the extension for it. The server names the indexes, because it cuts long names off.
#[cfg(feature = "postgres")]
pub(super) fn postgres_create_table_statements(table: &Table, has_trigrams: bool) -> Vec<String> {
    let mut statements = create_statements(table, None, postgres_column, "", postgres_index);
    if has_trigrams {
        statements.extend(search_index::create_gin_index_statement(table));
    }
    statements
}

fn create_statements(
    table: &Table,
    number: Option<u32>,
    sql_type: fn(ColumnKind) -> &'static str,
    end: &str,
    index: fn(&Table, &str) -> String,
) -> Vec<String> {
    let name = table.name();
    let columns: Vec<_> = written_columns(table)
        .iter()
        .map(|column| {
            let primary = if column.name == POSITION_COLUMN {
                " PRIMARY KEY"
            } else {
                ""
            };
            format!("{} {}{primary}", column.name, sql_type(column.kind))
        })
        .collect();
    let mut statements = vec![format!(
        "CREATE TABLE IF NOT EXISTS {} ({}){end}",
        quote_name(&name),
        columns.join(", ")
    )];
    for column in indexed_columns(table) {
        let by = index(table, column);
        statements.push(create_index_statement(table, column, number, &by));
    }
    statements
}

/// Returns the columns of the index that finds rows by a column.
fn sqlite_index(table: &Table, column: &str) -> String {
    let name = table.compared_column(column);
    if column == key_column(table) {
        name
    } else {
        format!("{name}, {POSITION_COLUMN}")
    }
}

/// Returns the columns of the index that finds rows by a column. PostgreSQL refuses an entry of more than 2,704
/// bytes, so the index contains the prefix of a text.
#[cfg(feature = "postgres")]
fn postgres_index(table: &Table, column: &str) -> String {
    if !table.has_text_index(column) {
        sqlite_index(table, column)
    } else if column == key_column(table) {
        text_prefix::unique_expressions(column)
    } else {
        let prefix = text_prefix::prefix_expression(&table.compared_column(column));
        format!("{prefix}, {POSITION_COLUMN}")
    }
}

const fn sqlite_type(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text
        | ColumnKind::Name
        | ColumnKind::Timestamp
        | ColumnKind::Date
        | ColumnKind::Json => "TEXT",
        ColumnKind::Integer | ColumnKind::Boolean => "INTEGER",
        ColumnKind::Real => "REAL",
    }
}

/// Texts sort by their bytes, as in SQLite.
#[cfg(feature = "postgres")]
const fn postgres_column(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text
        | ColumnKind::Name
        | ColumnKind::Timestamp
        | ColumnKind::Date
        | ColumnKind::Json => "TEXT COLLATE \"C\"",
        kind => postgres_type(kind),
    }
}

#[cfg(feature = "postgres")]
const fn postgres_type(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text
        | ColumnKind::Name
        | ColumnKind::Timestamp
        | ColumnKind::Date
        | ColumnKind::Json => "TEXT",
        ColumnKind::Integer => "BIGINT",
        ColumnKind::Boolean => "BOOLEAN",
        ColumnKind::Real => "DOUBLE PRECISION",
    }
}

fn create_index_statement(table: &Table, column: &str, number: Option<u32>, by: &str) -> String {
    let is_unique = column == key_column(table) && !is_event(table);
    let unique = if is_unique { "UNIQUE " } else { "" };
    let name = number.map_or_else(String::new, |number| {
        let name = quote_name(&index_name(table, column, number));
        format!(" IF NOT EXISTS {name}")
    });
    let table = quote_name(&table.name());
    format!("CREATE {unique}INDEX{name} ON {table} ({by})")
}

/// Returns the statement that drops the table of a read model.
pub(super) fn drop_table_statement(table: &Table) -> String {
    format!("DROP TABLE IF EXISTS {}", quote_name(&table.name()))
}

/// Returns the statement that drops the search index of a table in SQLite. Older releases give their
/// index the same name.
pub(super) fn drop_search_index_statement(table: &Table) -> String {
    format!(
        "DROP TABLE IF EXISTS {}",
        search_index::quoted_fts_table_name(table)
    )
}

/// Returns the statements that replace the table of a read model by its shadow table.
#[cfg(feature = "postgres")]
pub(super) fn postgres_swap_statements(table: &Table) -> Vec<String> {
    let shadow = table.shadow_table();
    vec![
        drop_table_statement(table),
        rename_statement(&shadow.name(), &table.name()),
    ]
}

/// Returns the statements that replace the table of a read model and its search index by the shadow
/// table and its search index in SQLite.
pub(super) fn sqlite_swap_statements(table: &Table) -> Vec<String> {
    let shadow = table.shadow_table();
    let mut statements = vec![
        drop_table_statement(table),
        drop_search_index_statement(table),
    ];
    statements.push(rename_statement(&shadow.name(), &table.name()));
    if !table.searched.is_empty() {
        let (built, name) = (
            search_index::quoted_fts_table_name(&shadow),
            search_index::quoted_fts_table_name(table),
        );
        statements.push(format!("ALTER TABLE {built} RENAME TO {name}"));
    }
    statements
}

fn rename_statement(from: &str, to: &str) -> String {
    format!(
        "ALTER TABLE {} RENAME TO {}",
        quote_name(from),
        quote_name(to)
    )
}

/// Returns the statement that writes a row. It replaces the row with the same key, which keeps its
/// position. A row that is an event is never replaced, since an event always makes the same row.
pub(super) fn sqlite_upsert_statement(table: &Table) -> String {
    let columns = written_columns(table);
    let parameters = vec!["?"; columns.len()].join(", ");
    let values = format!("VALUES ({parameters})");
    let unique = quoted_unique_column(table);
    insert_statement(table, &columns, &values, &unique, &conflict_action(table))
}

/// Returns the statement that writes many rows in PostgreSQL. Each column is an array.
#[cfg(feature = "postgres")]
pub(super) fn postgres_upsert_statement(table: &Table) -> String {
    postgres_insert_statement(table, &conflict_action(table))
}

/// Returns the statement that tries many rows in PostgreSQL, which may have the same keys. The server checks each row
/// before it looks for another one with its key.
#[cfg(feature = "postgres")]
pub(super) fn postgres_try_statement(table: &Table) -> String {
    postgres_insert_statement(table, "DO NOTHING")
}

#[cfg(feature = "postgres")]
fn postgres_insert_statement(table: &Table, on_conflict: &str) -> String {
    let columns = written_columns(table);
    let arrays: Vec<_> = (1..)
        .zip(&columns)
        .map(|(number, column): (usize, _)| format!("${number}::{}[]", postgres_type(column.kind)))
        .collect();
    let values = format!("SELECT * FROM unnest({})", arrays.join(", "));
    let key = key_column(table);
    let unique = if table.has_text_index(key) {
        text_prefix::unique_expressions(key)
    } else {
        quoted_unique_column(table)
    };
    insert_statement(table, &columns, &values, &unique, on_conflict)
}

/// Returns the statement that inserts rows. `unique` is what the unique index contains.
fn insert_statement(
    table: &Table,
    columns: &[TableColumn],
    values: &str,
    unique: &str,
    on_conflict: &str,
) -> String {
    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
    let (table, names) = (quote_name(&table.name()), names.join(", "));
    format!("INSERT INTO {table} ({names}) {values} ON CONFLICT ({unique}) {on_conflict}")
}

/// Returns what a statement that writes a row does with the stored row with the same key.
fn conflict_action(table: &Table) -> String {
    let key = quoted_unique_column(table);
    let columns = written_columns(table).into_iter().map(|column| column.name);
    let changed = columns.filter(|name| *name != POSITION_COLUMN && *name != key);
    let set: Vec<_> = changed
        .map(|name| format!("{name} = excluded.{name}"))
        .collect();
    if is_event(table) || set.is_empty() {
        "DO NOTHING".to_owned()
    } else {
        format!("DO UPDATE SET {}", set.join(", "))
    }
}

/// Returns the statement that deletes the row with a key.
pub(super) fn delete_statement(table: &Table) -> String {
    let key = quote_name(key_column(table));
    format!("DELETE FROM {} WHERE {key} = ?", quote_name(&table.name()))
}

/// Returns the condition that a row has one of the keys, as SQL for PostgreSQL. Its parameter is the array of the
/// keys, behind the array of their prefixes if one of them is as long as a prefix.
#[cfg(feature = "postgres")]
pub(super) fn postgres_key_condition(table: &Table, keys: &[RowKey]) -> String {
    let key = key_column(table);
    let name = quote_name(key);
    if !table.has_text_index(key) {
        return format!("{name} = ANY($1)");
    }
    let prefix = text_prefix::prefix_expression(&name);
    // A comparison with an array that no index helps compares each row with each element.
    if text_prefix::has_long_key(keys) {
        format!("{prefix} = ANY($1) AND {name} = ANY($2)")
    } else {
        format!("{prefix} = ANY($1)")
    }
}

/// Returns the start of a statement that selects the position and the columns of rows.
pub(crate) fn select_from_clause(table: &Table) -> String {
    format!(
        "SELECT {} FROM {}",
        select_list(table),
        quote_name(&table.name())
    )
}

/// Returns the list of the columns that are selected.
pub(crate) fn select_list(table: &Table) -> String {
    let columns = table.model.columns.iter();
    let names: String = columns
        .map(|column| format!(", {}", quote_name(column.name)))
        .collect();
    format!("{POSITION_COLUMN}{names}")
}
