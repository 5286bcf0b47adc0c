//! Rows equal a naive fold of the log, at the end and whenever a client reads them.

use super::{LogFold, RunRecord, log_fold::Wallets};
use crate::{event::EventId, simulation::wallet_domain::WalletRow};

pub(super) fn collect_violations(run: &RunRecord, log: &LogFold, violations: &mut Vec<String>) {
    let all = log.wallets.last();
    for (instance, rows) in &run.rows {
        let rows = rows.as_deref().map(folded);
        if rows.as_ref() != all {
            violations.push(format!(
                "the rows of {instance} differ from a fold of all events: {rows:?} instead of {all:?}"
            ));
        }
    }
    for read in &run.reads {
        let rows = folded(&read.rows);
        let first = read.after.map_or(0, |event| EventId::get(event) + 1);
        let mut lengths = first..=read.length_after;
        if !lengths.any(|length| log.wallets_after(length) == Some(&rows)) {
            violations.push(format!(
                "the rows that the client read after operation {} and event {:?} are a fold of no \
                 events up to {}: {rows:?}",
                read.operation, read.after, read.length_after
            ));
        }
    }
}

fn folded(rows: &[WalletRow]) -> Wallets {
    let rows = rows.iter();
    let rows = rows.map(|row| (format!("/wallets/{}", row.id), (row.balance, row.movements)));
    rows.collect()
}
