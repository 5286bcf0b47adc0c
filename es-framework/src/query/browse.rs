//! Browsing the rows that are events, `#[event(read_model = "…")]`: oldest first, a page at a time.

use serde::{Serialize, Serializer};
use serde_json::{Value, value::RawValue};

use super::{
    Page, Parameters, QueryError,
    cursor::{AfterRow, Cursor},
};
use crate::{
    event::Subject,
    projection::{
        Cell, Database, Table,
        tables::{self, POSITION_COLUMN, quoted},
    },
};

/// The page that is asked for.
///
/// ```
/// use es_framework::{
///     prelude::*,
///     projection::{Database, ReadModelDescriptor, ReadModels},
///     query::{Parameters, browse},
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
/// # while database.size().await? == 0 || browse(&database, models.iter().next().unwrap(), Parameters::new([])?).await.is_err() { tokio::task::yield_now().await }
/// for table in models.iter() {
///     let page = browse(&database, table, Parameters::new([])?).await?;
///     assert!(page.items.is_empty() && page.next_cursor.is_none());
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A parameter is unknown or malformed, or the database failed.
pub async fn browse(
    database: &Database,
    table: &Table,
    mut parameters: Parameters,
) -> Result<Page<Box<RawValue>>, QueryError> {
    let paging = parameters.paging()?;
    parameters.check_all_taken()?;
    let statement = format!(
        "{} WHERE {POSITION_COLUMN} > ? ORDER BY {POSITION_COLUMN} LIMIT ?",
        tables::select(table)
    );
    let after = match paging.after.as_ref().map(Cursor::row).transpose()? {
        None => -1,
        Some(AfterRow { place, by: None }) => *place,
        Some(_) => return Err(Cursor::of_another_query()),
    };
    // One more tells whether there is a next page.
    let limit = i64::from(paging.limit).saturating_add(1);
    let cells = vec![Cell::Integer(after), Cell::Integer(limit)];
    let rows = database.fetch(table, statement, cells).await?;
    let total = match paging.total {
        true => {
            let count = format!("SELECT count(*) FROM {}", quoted(table.model.name));
            Some(database.count(count, Vec::new()).await?)
        }
        false => None,
    };
    let limit = usize::try_from(paging.limit).unwrap_or(usize::MAX);
    let last = rows
        .get(..limit)
        .filter(|_| rows.len() > limit)
        .and_then(<[_]>::last);
    let cursor = |place| Cursor::Row(AfterRow { place, by: None }).encode();
    let next_cursor = last.map(|row| cursor(row.place)).transpose()?;
    let shown = rows.into_iter().take(limit);
    let items = shown
        .map(|row| object(table, row.cells))
        .collect::<Result<_, _>>()?;
    Ok(Page {
        items,
        next_cursor,
        total,
    })
}

/// The first row of a subject.
///
/// ```
/// use es_framework::{event::Subject, prelude::*, projection::{Database, Table}, query::find};
///
/// /// Whether anything was ever donated here.
/// async fn is_known(database: &Database, donations: &Table, subject: &Subject) -> Result<bool, QueryError> {
///     Ok(find(database, donations, subject).await?.is_some())
/// }
/// ```
///
/// # Errors
/// The database failed.
pub async fn find(
    database: &Database,
    table: &Table,
    subject: &Subject,
) -> Result<Option<Box<RawValue>>, QueryError> {
    let statement = format!(
        "{} WHERE {} = ? ORDER BY {POSITION_COLUMN} LIMIT 1",
        tables::select(table),
        tables::key_column(table)
    );
    let subject = Cell::Text(subject.as_str().to_owned());
    let rows = database.fetch(table, statement, vec![subject]).await?;
    let first = rows.into_iter().next();
    first.map(|row| object(table, row.cells)).transpose()
}

fn object(table: &Table, cells: Vec<Cell>) -> Result<Box<RawValue>, QueryError> {
    let columns = table.model.columns.iter();
    let members = columns.zip(cells).map(|(column, cell)| {
        let value = cell.into_json(column.kind)?;
        Ok((column.member, value))
    });
    let members = members.collect::<Result<_, serde_json::Error>>()?;
    Ok(serde_json::value::to_raw_value(&Object(members))?)
}

/// Members in the order of the columns.
struct Object(Vec<(&'static str, Value)>);

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
