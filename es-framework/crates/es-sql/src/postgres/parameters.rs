//! The conversion of cells to and from PostgreSQL's types.

use sqlx::{
    AssertSqlSafe, Encode, Postgres, Row as _, Type, TypeInfo as _, ValueRef as _,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgArguments, PgRow, PgTypeInfo, types::Oid},
    query::Query,
};

use super::super::{Cell, CellType};

type PgQuery = Query<'static, Postgres, PgArguments>;

/// A NULL of no type, so that the server infers the type of the parameter from the statement.
struct UntypedNull;

impl Type<Postgres> for UntypedNull {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(0))
    }
}

impl Encode<'_, Postgres> for UntypedNull {
    fn encode_by_ref(&self, _: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Ok(IsNull::Yes)
    }
}

/// Returns a statement with the parameters of one row.
pub(super) fn query_with_cells(sql: String, cells: Vec<Cell>) -> PgQuery {
    let query = sqlx::query(AssertSqlSafe(sql));
    cells.into_iter().fold(query, |query, cell| match cell {
        Cell::Null => query.bind(None::<UntypedNull>),
        Cell::Text(text) => query.bind(text),
        Cell::Integer(number) => query.bind(number),
        Cell::Real(number) => query.bind(number),
        Cell::Boolean(truth) => query.bind(truth),
        Cell::Bytes(bytes) => query.bind(bytes),
    })
}

/// Returns a statement whose parameters are arrays.
pub(super) fn query_with_arrays(sql: String, arrays: Vec<(CellType, Vec<Cell>)>) -> PgQuery {
    let query = sqlx::query(AssertSqlSafe(sql));
    arrays
        .into_iter()
        .fold(query, |query, (cell_type, cells)| match cell_type {
            CellType::Text => query.bind(elements(cells, Cell::into_text)),
            CellType::Integer => query.bind(elements(cells, |cell| cell.as_integer())),
            CellType::Real => query.bind(elements(cells, |cell| match cell {
                Cell::Real(number) => Some(number),
                _ => None,
            })),
            CellType::Boolean => query.bind(elements(cells, |cell| match cell {
                Cell::Boolean(truth) => Some(truth),
                _ => None,
            })),
            CellType::Bytes => query.bind(elements(cells, |cell| match cell {
                Cell::Bytes(bytes) => Some(bytes),
                _ => None,
            })),
        })
}

fn elements<T>(cells: Vec<Cell>, convert: impl Fn(Cell) -> Option<T>) -> Vec<Option<T>> {
    cells.into_iter().map(convert).collect()
}

/// Reads the columns of a row.
pub(super) fn read_cells(row: &PgRow) -> Result<Vec<Cell>, sqlx::Error> {
    (0..row.len()).map(|index| read_cell(row, index)).collect()
}

fn read_cell(row: &PgRow, index: usize) -> Result<Cell, sqlx::Error> {
    let value = row.try_get_raw(index)?;
    if value.is_null() {
        return Ok(Cell::Null);
    }
    Ok(match value.type_info().name() {
        "INT8" => Cell::Integer(row.try_get(index)?),
        "INT4" => Cell::Integer(row.try_get::<i32, _>(index)?.into()),
        "INT2" => Cell::Integer(row.try_get::<i16, _>(index)?.into()),
        "FLOAT8" => Cell::Real(row.try_get(index)?),
        "FLOAT4" => Cell::Real(row.try_get::<f32, _>(index)?.into()),
        "BOOL" => Cell::Boolean(row.try_get(index)?),
        "BYTEA" => Cell::Bytes(row.try_get(index)?),
        // Its error names the type of a column that is no text.
        _ => Cell::Text(row.try_get(index)?),
    })
}
