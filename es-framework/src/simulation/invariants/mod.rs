//! The invariants of a run, checked against its whole history by naive code of their own.

mod command_invariants;
mod log_fold;
mod reaction_invariants;
mod row_invariants;

use std::time::Duration;

use jiff::Timestamp;

use self::log_fold::LogFold;
use super::{
    operation::OperationRecord, printer_connection::PrintedReceipt, simulated_client::ReadRecord,
    simulated_instance::ProcessKill, wallet_domain::WalletRow,
};
use crate::event::{RecordedEvent, Subject};

/// All that happened in a run.
#[derive(Debug)]
pub(super) struct RunRecord {
    /// The log at the end, with the latest time that any clock had shown at each event.
    pub(super) events: Vec<(RecordedEvent, Timestamp)>,
    pub(super) operations: Vec<OperationRecord>,
    pub(super) reads: Vec<ReadRecord>,
    /// The rows of each instance at the end.
    pub(super) rows: Vec<(&'static str, Option<Vec<WalletRow>>)>,
    pub(super) printed: Vec<PrintedReceipt>,
    /// The subject of each checkpoint of a reaction, and when it was recorded.
    pub(super) checkpoints: Vec<(Subject, Duration)>,
    pub(super) kills: Vec<ProcessKill>,
}

/// Returns a sentence for each violation of an invariant.
pub(super) fn find_violations(run: &RunRecord) -> Vec<String> {
    let log = LogFold::from_events(&run.events);
    let mut violations = log.impossible_decisions.clone();
    command_invariants::collect_violations(run, &log, &mut violations);
    row_invariants::collect_violations(run, &log, &mut violations);
    reaction_invariants::collect_violations(run, &log, &mut violations);
    violations
}
