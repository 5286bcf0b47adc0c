//! The subcommand `stats`.

use std::io::{self, Write as _};

use futures_util::TryStreamExt as _;

use super::{cli_error::CliError, engine::ExistingStoreArguments, offline::count_events};
use es_event::Subject;
use es_store::{Order, ReadOptions};

/// Prints the size of a store and its numbers of events, subjects and event types.
pub(super) async fn print_stats(arguments: &ExistingStoreArguments) -> Result<(), CliError> {
    let engine = arguments.open_existing().await?;
    let store = engine.port();
    let time_of_first = async |order| -> Result<String, CliError> {
        let options = ReadOptions {
            order,
            ..ReadOptions::recursive()
        };
        let mut events = store.read(Subject::root(), options.first_only());
        let first = events.try_next().await?;
        Ok(first.map_or_else(|| "-".into(), |event| event.time.as_str().to_owned()))
    };
    let mut subjects = 0_u64;
    let mut stream = store.read_subjects(Subject::root());
    while stream.try_next().await?.is_some() {
        subjects = subjects.saturating_add(1);
    }
    let types: Vec<_> = store.read_event_types().try_collect().await?;
    let mut out = io::stdout().lock();
    match engine.file() {
        Some(file) => {
            writeln!(out, "file:        {}", file.display())?;
            writeln!(out, "bytes:       {}", file.metadata()?.len())?;
        }
        None => writeln!(out, "store:       {}", store.description())?,
    }
    writeln!(out, "events:      {}", count_events(&*store).await?)?;
    writeln!(
        out,
        "first event: {}",
        time_of_first(Order::Chronological).await?
    )?;
    writeln!(
        out,
        "last event:  {}",
        time_of_first(Order::Antichronological).await?
    )?;
    writeln!(out, "subjects:    {subjects}, parents included")?;
    writeln!(out, "event types: {}", types.len())?;
    for known in types {
        let has_schema = if known.schema.is_some() {
            ", has a schema"
        } else {
            ""
        };
        let phantom = if known.is_phantom {
            ", no event yet"
        } else {
            ""
        };
        writeln!(out, "  {}{has_schema}{phantom}", known.event_type)?;
    }
    drop(out);
    engine.close().await;
    Ok(())
}
