//! The rows of a read model that contain a text, such as the id of a person. Operators ask for them.

use serde_json::value::RawValue;

use super::{QueryError, event_rows::to_json};
use crate::projection::{
    Cell, ColumnKind, Database, QueryCost, SearchForm, Table, like_pattern,
    table_statements::{POSITION_COLUMN, quote_name, select_from_clause},
    written_columns,
};

/// The most rows of a read model in one answer.
const MAX_ROWS: usize = 10_000;

/// The most bytes of these rows.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Shorter texts are in many rows.
const MIN_LENGTH: usize = 3;

/// The rows of a read model that contain a text.
#[derive(Debug)]
pub struct RowsWithText {
    /// The first rows.
    pub rows: Vec<Box<RawValue>>,
    /// The number of all rows.
    pub count: usize,
}

/// Returns the rows of which a column contains the text, the oldest row first.
pub async fn find_rows_with_text(
    database: &Database,
    table: &Table,
    text: &str,
) -> Result<RowsWithText, QueryError> {
    let (condition, parameters) = contains(table, &[text.to_owned()]);
    let select = select_from_clause(table);
    let statement =
        format!("{select} WHERE {condition} ORDER BY {POSITION_COLUMN} LIMIT {MAX_ROWS}");
    let found = database
        .fetch_rows(
            QueryCost::Aggregate,
            table,
            statement,
            parameters.clone(),
            MAX_BYTES,
        )
        .await?;
    let is_cut = found.is_cut || found.rows.len() == MAX_ROWS;
    let rows = found
        .rows
        .into_iter()
        .map(|row| to_json(table, row.cells))
        .collect::<Result<Vec<_>, _>>()?;
    let count = if is_cut {
        count_rows(database, table, &condition, parameters).await?
    } else {
        rows.len()
    };
    Ok(RowsWithText { rows, count })
}

async fn count_rows(
    database: &Database,
    table: &Table,
    condition: &str,
    parameters: Vec<Cell>,
) -> Result<usize, QueryError> {
    let name = quote_name(&table.name());
    let statement = format!("SELECT count(*) FROM {name} WHERE {condition}");
    let count = database.fetch_count(QueryCost::Aggregate, statement, parameters);
    Ok(usize::try_from(count.await?).unwrap_or(usize::MAX))
}

/// Returns true if a row contains the text, also in the forms in which search columns hold it.
pub async fn has_rows_with_text(
    database: &Database,
    table: &Table,
    text: &str,
) -> Result<bool, QueryError> {
    let searched = [SearchForm::Folded, SearchForm::Alphanumeric].map(|form| form.convert(text));
    let mut forms: Vec<_> = searched.into_iter().chain([text.to_owned()]).collect();
    forms.retain(|form| form.chars().count() >= MIN_LENGTH && !form.contains('\0'));
    if forms.is_empty() {
        return Ok(false);
    }
    let (condition, parameters) = contains(table, &forms);
    Ok(count_rows(database, table, &condition, parameters).await? > 0)
}

/// Returns the condition that a column of text contains one of the texts.
fn contains(table: &Table, texts: &[String]) -> (String, Vec<Cell>) {
    let (mut conditions, mut parameters) = (Vec::new(), Vec::new());
    for column in written_columns(table) {
        for text in texts {
            let json = serde_json::Value::from(text.as_str()).to_string();
            let text = match column.kind {
                ColumnKind::Text | ColumnKind::Name => text,
                ColumnKind::Json => unquoted(&json),
                ColumnKind::Integer
                | ColumnKind::Real
                | ColumnKind::Boolean
                | ColumnKind::Timestamp
                | ColumnKind::Date => continue,
            };
            conditions.push(format!("{} LIKE ? ESCAPE '\\'", column.name));
            parameters.push(Cell::Text(like_pattern(text)));
        }
    }
    if conditions.is_empty() {
        conditions.push("1 = 0".to_owned());
    }
    (conditions.join(" OR "), parameters)
}

/// Returns a JSON text without the quotation marks around it.
fn unquoted(json: &str) -> &str {
    let inner = json
        .strip_prefix('"')
        .and_then(|json| json.strip_suffix('"'));
    inner.unwrap_or(json)
}
