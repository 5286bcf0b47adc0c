//! Verifies the log while the store runs: the newest events at the start, and all events each day.

use std::{sync::Weak, time::Duration};

use tokio::time::sleep;

use super::{
    PostgresStore,
    log_reader::LogReader,
    running_writer::RunningWriter,
    table_check::{TableCheck, TablePosition},
};
use es_store::{LogDamage, NEWEST, StoreError, VerificationScope, verify_scope};

/// The time between two verifications.
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);
/// The pause between two steps, so that a verification takes about a tenth of a processor.
const PAUSE: Duration = Duration::from_millis(50);

/// Verifies the newest events. Damage closes the log, and the store still answers reads.
pub(super) async fn verify_newest(store: &PostgresStore) -> Result<(), StoreError> {
    let length = store.reader.read_length().await?;
    let scope = VerificationScope {
        first: length.saturating_sub(NEWEST),
        pause: Duration::ZERO,
    };
    verify_scope(store, scope, |_| {}).await?;
    Ok(())
}

/// Verifies the whole log each day, until the store is dropped.
pub(super) async fn verify_daily(writer: Weak<RunningWriter>, reader: LogReader) {
    loop {
        sleep(INTERVAL).await;
        let Some(writer) = writer.upgrade() else {
            return;
        };
        let store = PostgresStore {
            writer,
            reader: reader.clone(),
        };
        let scope = VerificationScope {
            first: 0,
            pause: PAUSE,
        };
        if let Err(error) = verify_scope(&store, scope, |_| {}).await {
            tracing::warn!(%error, "the events were not verified; the next attempt is in a day");
        }
    }
}

/// Returns the first damage of each table.
pub(super) async fn find_table_damage(
    reader: &LogReader,
    scope: VerificationScope,
    progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Vec<LogDamage>, StoreError> {
    let mut position = Some(TablePosition::Events(scope.first));
    let (mut damage, mut compared) = (Vec::<LogDamage>::new(), 0_u64);
    while let Some(next) = position {
        let is_last = scope.first > 0 && !matches!(next, TablePosition::Events(_));
        if is_last {
            break;
        }
        let page = reader
            .pool
            .run_step(&reader.state, &TableCheck(next))
            .await?;
        for found in page.damage {
            if damage.iter().all(|known| known.place != found.place) {
                damage.push(found);
            }
        }
        compared = compared.saturating_add(page.entries);
        progress(compared);
        position = page.next;
        if !scope.pause.is_zero() {
            sleep(scope.pause).await;
        }
    }
    Ok(damage)
}
