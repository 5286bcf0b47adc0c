//! The queries for read models whose rows are events, `#[event(read_model = "…")]`.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{
    Page, PageParameters, QueryError, QueryParameters, condition::Expression,
    row_selection::RowSelection,
};
use crate::projection::{
    Cell, Database, Table, column::cell_to_json, table_statements::POSITION_COLUMN,
};
use es_event::{Caller, Subject};

/// Returns the requested page of a read model whose rows are events, the oldest event first.
///
/// ```
/// use es_framework::{
///     prelude::*,
///     projection::{Database, ReadModelDescriptor, ReadModels},
///     query::{QueryParameters, browse_events},
/// };
///
/// #[derive(Event)]
/// #[event(read_model = "donations")]
/// struct BookDonatedEvent {
///     title: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let models = ReadModels::new([ReadModelDescriptor::of_events::<BookDonatedEvent>()])?;
/// let database = Database::in_memory(&models).await?;
/// # tokio::spawn(es_framework::projection::Processor::new(
/// #     std::sync::Arc::new(es_framework::store::memory::MemoryStore::new()), database.clone(), models.clone(),
/// # ).run());
/// # while database.size().await? == 0 || browse_events(&database, models.iter().next().unwrap(), QueryParameters::new([])?).await.is_err() { tokio::task::yield_now().await }
/// for table in models.iter() {
///     let page = browse_events(&database, table, QueryParameters::new([])?).await?;
///     assert!(page.items.is_empty() && page.next_cursor.is_none());
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A parameter is unknown or malformed, or the database failed.
pub async fn browse_events(
    database: &Database,
    table: &Table,
    parameters: QueryParameters,
) -> Result<Page<Box<RawValue>>, QueryError> {
    browse_page(database, table, &parse_paging(parameters)?).await
}

/// A row of any read model, and its position among the rows.
#[derive(Debug)]
pub struct PositionedRow {
    /// The position, by which the row is found again.
    pub position: i64,
    /// The row.
    pub json: Box<RawValue>,
}

/// Returns the requested page of any read model in the order of its rows' age. The console shows it.
pub async fn browse_rows(
    database: &Database,
    table: &Table,
    parameters: QueryParameters,
) -> Result<Page<PositionedRow>, QueryError> {
    let paging = parse_paging(parameters)?;
    let page = all_rows(database, table).load_page(&paging).await?;
    page.try_map(|row| {
        Ok(PositionedRow {
            position: row.place,
            json: to_json(table, row.cells)?,
        })
    })
}

/// Returns the row of any read model at a position. The console shows it.
pub async fn find_row_at(
    database: &Database,
    table: &Table,
    position: i64,
) -> Result<Option<Box<RawValue>>, QueryError> {
    find_first_where(database, table, POSITION_COLUMN, Cell::Integer(position)).await
}

/// Parses the parameters of a page, which are all that the request may have.
pub(super) fn parse_paging(mut parameters: QueryParameters) -> Result<PageParameters, QueryError> {
    let paging = PageParameters::take_from_parameters(&mut parameters, &[])?;
    parameters.check_all_taken()?;
    Ok(paging)
}

/// Returns a page of rows as JSON.
pub(super) async fn browse_page(
    database: &Database,
    table: &Table,
    paging: &PageParameters,
) -> Result<Page<Box<RawValue>>, QueryError> {
    let page = all_rows(database, table).load_page(paging).await?;
    page.try_map(|row| to_json(table, row.cells))
}

/// Selects all rows and columns in the order of their age, for a caller to whom nothing is hidden.
fn all_rows<'a>(database: &'a Database, table: &Table) -> RowSelection<'a> {
    RowSelection::new(database, table.model.name, Caller::System)
}

/// Returns the row of the subject's first event.
///
/// ```
/// use es_framework::{event::Subject, prelude::*, projection::{Database, Table}, query::find_first_by_subject};
///
/// /// Returns whether a donation has this subject.
/// async fn is_known(database: &Database, donations: &Table, subject: &Subject) -> Result<bool, QueryError> {
///     Ok(find_first_by_subject(database, donations, subject).await?.is_some())
/// }
/// ```
///
/// # Errors
/// The database failed.
pub async fn find_first_by_subject(
    database: &Database,
    table: &Table,
    subject: &Subject,
) -> Result<Option<Box<RawValue>>, QueryError> {
    let subject = Cell::Text(subject.as_str().to_owned());
    find_first_where(database, table, table.model.identity.key_column(), subject).await
}

/// Returns the oldest row with a value in a column.
async fn find_first_where(
    database: &Database,
    table: &Table,
    column: &'static str,
    value: Cell,
) -> Result<Option<Box<RawValue>>, QueryError> {
    let mut rows = all_rows(database, table);
    rows.conditions.push(Expression::equal_to(column, value));
    let page = rows.load_page(&PageParameters::first_rows(1)).await?;
    let first = page.items.into_iter().next();
    first.map(|row| to_json(table, row.cells)).transpose()
}

pub(super) fn to_json(table: &Table, cells: Vec<Cell>) -> Result<Box<RawValue>, QueryError> {
    let columns = table.model.columns.iter();
    let values = columns.zip(cells).map(|(column, cell)| {
        let value = cell_to_json(cell, column.kind)?;
        Ok((column.member, value))
    });
    let members = values.collect::<Result<_, serde_json::Error>>()?;
    Ok(serde_json::value::to_raw_value(&JsonRow(members))?)
}

/// A JSON object whose members have the order of the columns.
struct JsonRow(Vec<(&'static str, Box<RawValue>)>);

impl Serialize for JsonRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
