//! Has parts of texts found quickly: keeps their index up, behind the rows.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::super::{Database, DatabaseError, Positions, Progress, ReadModels, Table};

/// How often it is looked whether there are new rows.
const PERIOD: Duration = Duration::from_secs(1);
/// Searches look at each row that the index lacks: so many take them 20 ms.
const MANY: u128 = 150_000;
/// How many times longer than it works the index rests then, while rows are written. By the fourth
/// power, so that it hardly works with two thirds of that, and all the time with twice as many.
const REST: u128 = 10;
/// The most that it rests: whoever writes the rows comes first.
const LONGEST_REST: u128 = 99;
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
    let (mut lacks, mut counted) = (0, None::<Instant>);
    loop {
        let (begin, position) = (Instant::now(), progress.position());
        if !database.index(table).await? {
            return Ok(());
        }
        let spent = begin.elapsed();
        tokio::time::sleep(spent).await;
        if progress.position() != position {
            // Counting takes the longer the more there are.
            if counted.is_none_or(|counted| counted.elapsed() >= PERIOD) {
                counted = Some(Instant::now());
                let unindexed = database.unindexed(table.model.name).await?;
                lacks = unindexed.unwrap_or_default();
            }
            tokio::time::sleep(spent.saturating_mul(rest(lacks))).await;
        }
    }
}

/// How many times longer than its work the index rests if it lacks so many rows.
fn rest(lacks: u64) -> u32 {
    let rest = REST.saturating_mul(MANY.pow(4));
    let rest = rest.checked_div(u128::from(lacks).saturating_pow(4));
    let rest = rest.unwrap_or(LONGEST_REST).min(LONGEST_REST);
    u32::try_from(rest).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_rests_the_shorter_the_more_rows_it_lacks() {
        let rests = [0, 1, 75_000, 100_000, 150_000, 300_000, u64::MAX].map(rest);
        assert_eq!(rests, [99, 99, 99, 50, 10, 0, 0]);
    }
}
