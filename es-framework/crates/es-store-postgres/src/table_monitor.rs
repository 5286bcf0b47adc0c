//! Compares the tables with the events while the store runs: after the start, each day, and when an append finds that
//! a row is missing.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::{
    log_reader::LogReader,
    table_check::{TableCheck, TablePosition},
};
use es_store::StoreError;

/// The time after which the tables are compared again.
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);
/// The pause between two pages, so that the comparison takes about a tenth of a processor.
const PAUSE: Duration = Duration::from_millis(50);
/// The number of events up to which a start compares the tables before it answers.
const CHECKED_AT_START: u64 = 10_000;
/// The most flaws that one comparison logs.
const LOGGED: usize = 20;

/// Compares the tables of a small store before it answers. Returns false for a large one.
pub(super) async fn correct_at_start(reader: LogReader, events: u64) -> Result<bool, StoreError> {
    let is_small = events <= CHECKED_AT_START;
    if is_small {
        correct_tables(reader, Duration::ZERO).await?;
    }
    Ok(is_small)
}

/// Compares the tables with the events, and corrects those that follow from them, until it is aborted.
pub(super) async fn watch_tables(reader: LogReader, mut is_checked: bool) {
    loop {
        if !is_checked && let Err(error) = correct_tables(reader.clone(), PAUSE).await {
            tracing::warn!(%error, "the tables of the event store were not compared with its events");
        }
        is_checked = false;
        let _ = timeout(INTERVAL, reader.state.await_table_check()).await;
    }
}

async fn correct_tables(reader: LogReader, pause: Duration) -> Result<(), StoreError> {
    let mut position = Some(TablePosition::START);
    let mut logged = 0_usize;
    while let Some(next) = position {
        let check = TableCheck {
            position: next,
            corrects: true,
        };
        let page = reader.pool.run_step(&reader.state, &check).await?;
        for flaw in &page.flaws {
            logged = logged.saturating_add(1);
            match page.is_corrected {
                _ if logged > LOGGED => {}
                true => tracing::error!("the event store was damaged, and is corrected: {flaw}"),
                false => tracing::error!("the event store is damaged: {flaw}"),
            }
        }
        position = page.next;
        sleep(pause).await;
    }
    Ok(())
}

/// Returns the first flaw of the tables, and corrects nothing.
pub(super) async fn find_table_flaw(
    reader: LogReader,
    progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Option<String>, StoreError> {
    let mut position = Some(TablePosition::START);
    let mut compared = 0_u64;
    while let Some(next) = position {
        let check = TableCheck {
            position: next,
            corrects: false,
        };
        let page = reader.pool.run_step(&reader.state, &check).await?;
        if let Some(flaw) = page.flaws.into_iter().next() {
            return Ok(Some(flaw));
        }
        compared = compared.saturating_add(page.entries);
        progress(compared);
        position = page.next;
    }
    Ok(None)
}
