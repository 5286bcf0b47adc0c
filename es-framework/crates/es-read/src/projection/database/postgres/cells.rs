//! The conversion of cells to and from PostgreSQL's types.

use sqlx::{
    Postgres, Row as _,
    postgres::{PgArguments, PgRow},
    query::Query,
};

use super::super::{
    super::{
        Cell, ColumnDescriptor, ColumnKind, RowKey, Table,
        row_changes::TableRow,
        table_statements,
        text_prefix::{has_long_key, text_prefix},
    },
    DatabaseError, TableColumn,
};

pub(super) type PgQuery<'q> = Query<'q, Postgres, PgArguments>;

pub(super) fn bind(query: PgQuery<'_>, cell: Cell) -> PgQuery<'_> {
    match cell {
        Cell::Null => query.bind(None::<String>),
        Cell::Text(text) => query.bind(text),
        Cell::Integer(number) => query.bind(number),
        Cell::Real(number) => query.bind(number),
        Cell::Boolean(truth) => query.bind(truth),
    }
}

/// Binds the parameters of [`table_statements::postgres_key_condition`].
pub(super) fn bind_keys<'q>(query: PgQuery<'q>, table: &Table, keys: Vec<RowKey>) -> PgQuery<'q> {
    let has_long_key = has_long_key(&keys);
    let mut texts = Vec::new();
    let mut numbers = Vec::new();
    for key in keys {
        match key {
            RowKey::Integer(number) => numbers.push(number),
            key => texts.push(key.to_text()),
        }
    }
    // All keys of a table are of one kind.
    if has_long_key && table.has_text_index(table_statements::key_column(table)) {
        let prefixes: Vec<_> = texts.iter().map(|key| text_prefix(key)).collect();
        query.bind(prefixes).bind(texts)
    } else if numbers.is_empty() {
        query.bind(texts)
    } else {
        query.bind(numbers)
    }
}

/// Binds a column of many rows as one array.
pub(super) fn bind_column<'q>(
    query: PgQuery<'q>,
    (column, cells): (&TableColumn, Vec<Cell>),
) -> PgQuery<'q> {
    let cells = cells.into_iter();
    match column.kind {
        ColumnKind::Text
        | ColumnKind::Name
        | ColumnKind::Timestamp
        | ColumnKind::Date
        | ColumnKind::Json => {
            let texts = cells.map(|cell| match cell {
                Cell::Text(text) => Some(text),
                _ => None,
            });
            query.bind(texts.collect::<Vec<_>>())
        }
        ColumnKind::Integer => {
            let numbers = cells.map(|cell| match cell {
                Cell::Integer(number) => Some(number),
                _ => None,
            });
            query.bind(numbers.collect::<Vec<_>>())
        }
        ColumnKind::Real => {
            let numbers = cells.map(|cell| match cell {
                Cell::Real(number) => Some(number),
                _ => None,
            });
            query.bind(numbers.collect::<Vec<_>>())
        }
        ColumnKind::Boolean => {
            let truths = cells.map(|cell| match cell {
                Cell::Boolean(truth) => Some(truth),
                _ => None,
            });
            query.bind(truths.collect::<Vec<_>>())
        }
    }
}

/// Converts a row of PostgreSQL: its position and its columns.
pub(super) fn decode_row(
    columns: &[ColumnDescriptor],
    row: &PgRow,
) -> Result<TableRow, DatabaseError> {
    let cell = |(index, column): (usize, &ColumnDescriptor)| {
        Ok(match column.kind {
            ColumnKind::Text
            | ColumnKind::Name
            | ColumnKind::Timestamp
            | ColumnKind::Date
            | ColumnKind::Json => row
                .try_get::<Option<String>, _>(index)?
                .map_or(Cell::Null, Cell::Text),
            ColumnKind::Integer => row
                .try_get::<Option<i64>, _>(index)?
                .map_or(Cell::Null, Cell::Integer),
            ColumnKind::Boolean => row
                .try_get::<Option<bool>, _>(index)?
                .map_or(Cell::Null, Cell::Boolean),
            ColumnKind::Real => row
                .try_get::<Option<f64>, _>(index)?
                .map_or(Cell::Null, Cell::Real),
        })
    };
    // The first column is the position.
    let cells = (1..).zip(columns).map(cell);
    let cells = cells.collect::<Result<_, sqlx::Error>>()?;
    Ok(TableRow {
        place: row.try_get(0)?,
        subject: None,
        cells,
    })
}
