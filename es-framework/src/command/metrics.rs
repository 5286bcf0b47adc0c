//! How commands end, counted.

use std::{sync::LazyLock, time::Duration};

use metrics::{Counter, Histogram};

use super::{CommandError, Outcome};
use crate::{
    event::RecordedEvent,
    metrics::{self as registry, APPEND_DURATION, COMMAND_RETRIES, COMMANDS, MetricHandles},
    store::{AppendError, StoreError},
};

/// A command's name, how it ended, and the reason.
type Ended = (&'static str, &'static str, &'static str);

static ENDED: LazyLock<MetricHandles<Ended, Counter>> = LazyLock::new(MetricHandles::default);
static APPENDED: LazyLock<MetricHandles<&'static str, Histogram>> =
    LazyLock::new(MetricHandles::default);
static RETRIED: LazyLock<MetricHandles<&'static str, Counter>> =
    LazyLock::new(MetricHandles::default);

/// Counts how a command ended.
pub(super) fn ended(command: &'static str, ended: &Result<Outcome, CommandError>) {
    let (outcome, reason) = ended
        .as_ref()
        .err()
        .map_or(("accepted", ""), CommandError::ended);
    let register = |(command, outcome, reason): &Ended| {
        let labels = [
            ("command", *command),
            ("outcome", *outcome),
            ("reason", *reason),
        ];
        registry::counter(&COMMANDS, &labels)
    };
    ENDED.with((command, outcome, reason), register, |counter| {
        counter.increment(1);
    });
}

/// Counts a decision that is made anew.
pub(super) fn retried(command: &'static str) {
    let register = |command: &&'static str| {
        let labels = [("command", *command)];
        registry::counter(&COMMAND_RETRIES, &labels)
    };
    RETRIED.with(command, register, |counter| counter.increment(1));
}

/// Notes how long an append took.
pub(super) fn appended(appended: &Result<Vec<RecordedEvent>, AppendError>, duration: Duration) {
    let outcome = match appended {
        Ok(_) => "recorded",
        Err(AppendError::Conflict(_)) => "conflict",
        Err(AppendError::Schema(_)) => "refused",
        Err(AppendError::Unknown { .. }) => "unknown",
        Err(AppendError::Store(_)) => "failed",
    };
    let register = |outcome: &&'static str| {
        let labels = [("outcome", *outcome)];
        registry::histogram(&APPEND_DURATION, &labels)
    };
    APPENDED.with(outcome, register, |histogram| histogram.record(duration));
}

impl CommandError {
    /// How a command ended, in a word, and the reason as the last part of a problem's type.
    pub(crate) fn ended(&self) -> (&'static str, &'static str) {
        match self {
            Self::Malformed(_) => ("invalid", "malformed-body"),
            Self::Invalid(_) => ("invalid", "invalid-values"),
            Self::KeyReused => ("invalid", "idempotency-key-reused"),
            Self::AlreadyExists(_) => ("rejected", "already-exists"),
            Self::NotFound(_) => ("rejected", "not-found"),
            Self::Rejected(rejection) => ("rejected", rejection.name()),
            Self::NotAsExpected { .. } => ("conflict", "changed-meanwhile"),
            Self::Contended(_) => ("conflict", "contended"),
            Self::Unknown { .. } => ("unknown", "outcome-unknown"),
            Self::Store(StoreError::Unavailable { .. }) => ("failed", "event-store-unavailable"),
            Self::Store(StoreError::Full(_)) => ("failed", "event-store-full"),
            Self::Store(_) | Self::Decode(_) | Self::Encode(_) | Self::NotProvided(_) => {
                ("failed", "internal-error")
            }
        }
    }
}
