//! Has parts of texts found quickly: keeps their index up, behind the rows.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::super::{Database, DatabaseError, Positions, Progress, ReadModels, Table};

/// How often it is looked whether there are new rows.
const PERIOD: Duration = Duration::from_secs(1);
/// How many times longer than its work the index rests while rows are written: whoever writes them
/// comes first.
const REST: u32 = 39;
/// The same once it is far behind, since searches look at each row that it does not hold: so many
/// take them some milliseconds.
const SHORT_REST: u32 = 9;
const FAR_BEHIND: u64 = 50_000;
/// The pause after a failure. Most often the database cannot have the index.
const AFTER_FAILURE: Duration = Duration::from_secs(60);

/// Goes on until it is dropped: each chunk stands for itself. Rows that the index does not hold yet
/// are found without.
pub(super) async fn follow(database: &Database, models: &ReadModels, positions: &Positions) {
    let mut taken = BTreeMap::new();
    let mut warned = String::new();
    loop {
        let mut pause = PERIOD;
        for table in models.iter().filter(|table| !table.searched.is_empty()) {
            let name = table.model.name;
            // A rebuild has the database for itself.
            let progress = positions.get(name).filter(|progress| progress.is_rebuilt());
            let Some(progress) = progress else { continue };
            let position = progress.position();
            if taken.get(name) == Some(&position) {
                continue;
            }
            match take(database, table, progress).await {
                Ok(()) => {
                    taken.insert(name, position);
                }
                Err(error) => {
                    let error = error.to_string();
                    if error != warned {
                        tracing::warn!(
                            read_model = name,
                            error,
                            "parts of texts are not indexed, so searches look at each row"
                        );
                        warned = error;
                    }
                    pause = AFTER_FAILURE;
                }
            }
        }
        tokio::time::sleep(pause).await;
    }
}

/// Has the index hold all rows, with pauses for those who project and ask.
async fn take(
    database: &Database,
    table: &Table,
    progress: &Progress,
) -> Result<(), DatabaseError> {
    loop {
        let (begin, position) = (Instant::now(), progress.position());
        if !database.index(table).await? {
            return Ok(());
        }
        let spent = begin.elapsed();
        tokio::time::sleep(spent).await;
        if progress.position() != position {
            let behind = database.unindexed(table.model.name).await?;
            let is_far = behind.is_some_and(|rows| rows > FAR_BEHIND);
            let rest = if is_far { SHORT_REST } else { REST };
            tokio::time::sleep(spent.saturating_mul(rest)).await;
        }
    }
}
