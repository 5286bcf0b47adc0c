//! The invariants of a run, checked against its whole history by naive code of their own.

mod command_invariants;
mod log_fold;
mod personal_invariants;
mod reaction_invariants;
mod row_invariants;
mod schedule_invariants;
mod sink_invariants;
mod unique_invariants;

use std::collections::BTreeSet;

use jiff::Timestamp;
use uuid::Uuid;

use self::log_fold::LogFold;
pub(super) use self::personal_invariants::find_plain_row;
use super::{
    news_receiver::ArrivedEvent, operation::OperationRecord, owner_domain::OwnerRow,
    printer_connection::PrintedReceipt, simulated_client::ReadRecord,
    simulated_instance::ProcessKill, wallet_domain::WalletRow,
};
use crate::event::RecordedEvent;

/// All that happened in a run.
#[derive(Debug)]
pub(super) struct RunRecord {
    /// The log at the end, with the latest time that any clock had shown at each event.
    pub(super) events: Vec<(RecordedEvent, Timestamp)>,
    /// Each event of the log as somebody with the keys that are left reads it.
    pub(super) opened: Vec<Result<RecordedEvent, String>>,
    pub(super) operations: Vec<OperationRecord>,
    pub(super) reads: Vec<ReadRecord>,
    /// The rows of each instance at the end.
    pub(super) rows: Vec<(&'static str, Option<Vec<WalletRow>>)>,
    /// The rows of owners of each instance at the end.
    pub(super) owners: Vec<(&'static str, Option<Vec<OwnerRow>>)>,
    /// The persons whose erasure has begun.
    pub(super) erased: BTreeSet<Uuid>,
    pub(super) printed: Vec<PrintedReceipt>,
    pub(super) arrived: Vec<ArrivedEvent>,
    pub(super) kills: Vec<ProcessKill>,
}

/// Returns a sentence for each violation of an invariant.
pub(super) fn find_violations(run: &RunRecord) -> Vec<String> {
    let log = LogFold::from_events(&run.events);
    let mut violations = log.impossible_decisions.clone();
    command_invariants::collect_violations(run, &log, &mut violations);
    row_invariants::collect_violations(run, &log, &mut violations);
    reaction_invariants::collect_violations(run, &log, &mut violations);
    sink_invariants::collect_violations(run, &log, &mut violations);
    schedule_invariants::collect_violations(&log, &mut violations);
    personal_invariants::collect_violations(run, &log, &mut violations);
    unique_invariants::collect_violations(run, &mut violations);
    violations
}
