//! The queries for read models whose rows are events, `#[event(read_model = "…")]`.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{
    Page, PageParameters, QueryError, QueryParameters,
    cursor::{PageCursor, RowCursor},
};
use crate::projection::{
    Cell, Database, QueryCost, Table, TableRow,
    column::cell_to_json,
    table_statements::{self, POSITION_COLUMN, quote_name},
};
use es_event::Subject;

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
    browse_page(database, table, &EventPage::parse(parameters)?).await
}

/// A row of any read model, and its position among the rows.
#[doc(hidden)]
#[derive(Debug)]
pub struct PositionedRow {
    pub position: i64,
    pub json: Box<RawValue>,
}

/// Returns the requested page of any read model in the order of its rows' age. The console shows it.
#[doc(hidden)]
pub async fn browse_rows(
    database: &Database,
    table: &Table,
    parameters: QueryParameters,
) -> Result<Page<PositionedRow>, QueryError> {
    let page = load_page(database, table, &EventPage::parse(parameters)?).await?;
    page.try_map(|row| {
        Ok(PositionedRow {
            position: row.place,
            json: to_json(table, row.cells)?,
        })
    })
}

/// Returns the row of any read model at a position. The console shows it.
#[doc(hidden)]
pub async fn find_row_at(
    database: &Database,
    table: &Table,
    position: i64,
) -> Result<Option<Box<RawValue>>, QueryError> {
    let key = format!("{POSITION_COLUMN} = ?");
    find_first_where(database, table, &key, Cell::Integer(position)).await
}

/// The requested page of the rows in the order of their age.
pub(super) struct EventPage {
    paging: PageParameters,
    /// The position of the last row of the page before, or -1.
    after: i64,
}

impl EventPage {
    /// Parses the parameters of a page, which are all that the request may have.
    pub(super) fn parse(mut parameters: QueryParameters) -> Result<Self, QueryError> {
        let paging = PageParameters::take_from_parameters(&mut parameters, &[])?;
        parameters.check_all_taken()?;
        let after = match paging.after.as_ref().map(PageCursor::as_row).transpose()? {
            None => -1,
            Some(RowCursor {
                position, by: None, ..
            }) => *position,
            Some(_) => return Err(PageCursor::foreign_cursor_error()),
        };
        Ok(Self { paging, after })
    }
}

pub(super) async fn browse_page(
    database: &Database,
    table: &Table,
    page: &EventPage,
) -> Result<Page<Box<RawValue>>, QueryError> {
    let page = load_page(database, table, page).await?;
    page.try_map(|row| to_json(table, row.cells))
}

async fn load_page(
    database: &Database,
    table: &Table,
    EventPage { paging, after }: &EventPage,
) -> Result<Page<TableRow>, QueryError> {
    let statement = format!(
        "{} WHERE {POSITION_COLUMN} > ? ORDER BY {POSITION_COLUMN} LIMIT ?",
        table_statements::select_from_clause(table)
    );
    let cells = vec![Cell::Integer(*after), paging.limit_plus_one()];
    let rows = database
        .fetch_rows(QueryCost::Page, table, statement, cells, paging.most_bytes)
        .await?;
    let total = if paging.total {
        let count = format!("SELECT count(*) FROM {}", quote_name(table.model.name));
        Some(
            database
                .fetch_count(QueryCost::Aggregate, count, Vec::new())
                .await?,
        )
    } else {
        None
    };
    Page::new(rows, paging, total, |[last, _]| {
        let position = last.place;
        let (by, sort) = (None, None);
        Ok(PageCursor::Row(RowCursor { position, by, sort }))
    })
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
    let key = format!("{} = ?", table_statements::key_column(table));
    find_first_where(
        database,
        table,
        &key,
        Cell::Text(subject.as_str().to_owned()),
    )
    .await
}

/// Returns the oldest row that meets a condition with one parameter, which the database finds by an index.
async fn find_first_where(
    database: &Database,
    table: &Table,
    condition: &str,
    parameter: Cell,
) -> Result<Option<Box<RawValue>>, QueryError> {
    let statement = format!(
        "{} WHERE {condition} ORDER BY {POSITION_COLUMN} LIMIT 1",
        table_statements::select_from_clause(table),
    );
    let rows = database
        .fetch_rows(
            QueryCost::Lookup,
            table,
            statement,
            vec![parameter],
            usize::MAX,
        )
        .await?;
    let first = rows.rows.into_iter().next();
    first.map(|row| to_json(table, row.cells)).transpose()
}

pub(super) fn to_json(table: &Table, cells: Vec<Cell>) -> Result<Box<RawValue>, QueryError> {
    let columns = table.model.columns.iter();
    let members = columns.zip(cells).map(|(column, cell)| {
        let value = cell_to_json(cell, column.kind)?;
        Ok((column.member, value))
    });
    let members = members.collect::<Result<_, serde_json::Error>>()?;
    Ok(serde_json::value::to_raw_value(&JsonRow(members))?)
}

/// A JSON object whose members have the order of the columns.
struct JsonRow(Vec<(&'static str, Box<RawValue>)>);

impl Serialize for JsonRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
