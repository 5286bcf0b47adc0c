//! Metrics about commands.

use std::{sync::LazyLock, time::Duration};

use es_observe::metrics::{
    self as registry, RegisteredMetrics,
    catalogue::{APPEND_DURATION, COMMAND_RETRIES, COMMANDS},
};
use metrics::{Counter, Histogram};

use super::{CommandError, CommandOutcome, command_statistics};
use es_event::RecordedEvent;
use es_store::{AppendError, StoreError};

/// The outcome of a command whose subject has changed.
const CONFLICT: &str = "conflict";

/// The labels of a handled command: its name, its outcome and the reason.
type OutcomeLabels = (&'static str, &'static str, &'static str);

static HANDLED: LazyLock<RegisteredMetrics<OutcomeLabels, Counter>> =
    LazyLock::new(RegisteredMetrics::default);
static APPENDED: LazyLock<RegisteredMetrics<&'static str, Histogram>> =
    LazyLock::new(RegisteredMetrics::default);
static RETRIED: LazyLock<RegisteredMetrics<&'static str, Counter>> =
    LazyLock::new(RegisteredMetrics::default);

/// Counts a handled command by its outcome, and records its time.
pub(super) fn count_command(
    command: &'static str,
    result: &Result<CommandOutcome, CommandError>,
    duration: Duration,
) {
    let (outcome, reason) = result
        .as_ref()
        .err()
        .map_or(("accepted", ""), CommandError::outcome_labels);
    let register = |(command, outcome, reason): &OutcomeLabels| {
        let labels = [
            ("command", *command),
            ("outcome", *outcome),
            ("reason", *reason),
        ];
        registry::counter(&COMMANDS, &labels)
    };
    HANDLED.record_or_register((command, outcome, reason), register, |counter| {
        counter.increment(1);
    });
    command_statistics::record_command(duration);
    if outcome == CONFLICT {
        command_statistics::record_conflict();
    }
}

/// Counts a retry after a conflict.
pub(super) fn count_retry(command: &'static str) {
    let register = |command: &&'static str| {
        let labels = [("command", *command)];
        registry::counter(&COMMAND_RETRIES, &labels)
    };
    RETRIED.record_or_register(command, register, |counter| counter.increment(1));
    command_statistics::record_conflict();
}

/// Records the duration of an append.
pub(super) fn record_append(
    appended: &Result<Vec<RecordedEvent>, AppendError>,
    duration: Duration,
) {
    let outcome = match appended {
        Ok(_) => "recorded",
        Err(AppendError::Conflict(_)) => CONFLICT,
        Err(AppendError::Schema(_) | AppendError::ErasedPerson(_)) => "refused",
        Err(AppendError::Unknown { .. }) => "unknown",
        Err(AppendError::Store(_)) => "failed",
    };
    let register = |outcome: &&'static str| {
        let labels = [("outcome", *outcome)];
        registry::histogram(&APPEND_DURATION, &labels)
    };
    APPENDED.record_or_register(outcome, register, |histogram| histogram.record(duration));
}

impl CommandError {
    /// Returns the outcome in one word and the reason, which is also the last segment of the problem type.
    pub(crate) fn outcome_labels(&self) -> (&'static str, &'static str) {
        match self {
            Self::Malformed(_) => ("invalid", "malformed-body"),
            Self::Invalid(_) => ("invalid", "invalid-values"),
            Self::KeyReused => ("invalid", "idempotency-key-reused"),
            Self::AlreadyExists(_) => ("rejected", "already-exists"),
            Self::NotFound(_) => ("rejected", "not-found"),
            Self::NotOwner(_) => ("rejected", "not-owner"),
            Self::NotUnique { .. } => ("rejected", "not-unique"),
            Self::ErasedPerson(_) => ("rejected", "erased-person"),
            Self::Rejected(rejection) => ("rejected", rejection.name()),
            Self::NotAsExpected { .. } => (CONFLICT, "changed-meanwhile"),
            Self::Contended(_) => (CONFLICT, "contended"),
            Self::Unknown { .. } => ("unknown", "outcome-unknown"),
            Self::Store(StoreError::Unavailable { .. }) => ("failed", "event-store-unavailable"),
            Self::Store(StoreError::KeyStore(_)) => ("failed", "key-store-unavailable"),
            Self::Store(StoreError::Full(_)) => ("failed", "event-store-full"),
            Self::Store(_) | Self::Decode(_) | Self::Encode(_) | Self::NotProvided(_) => {
                ("failed", "internal-error")
            }
        }
    }
}
