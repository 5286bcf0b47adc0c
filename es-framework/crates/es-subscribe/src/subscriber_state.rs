//! The state of a read model or a reaction. Readiness, health, metrics, console and problems read it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::operator::{ComponentKind, OperatorCommand};
use es_event::{PoisonEvent, shorten_reason};
use es_store::StoreError;

/// The time after which a failure that is retried counts as an outage: the health check reports it.
const OUTAGE_AFTER: Duration = Duration::from_secs(10);

/// The state of a read model, its shadow table or a reaction.
///
/// ```
/// use es_subscribe::{SubscriberState, operator::{ComponentKind, OperatorCommand}};
///
/// let state = SubscriberState::default();
/// assert_eq!(state.name(), "working");
/// assert_eq!(state.exits(ComponentKind::ReadModel), [OperatorCommand::Rebuild]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SubscriberState {
    /// It follows the event store.
    #[default]
    Working,
    /// It failed and tries again on its own.
    Retrying(OngoingFailure),
    /// It does not continue before somebody removes the cause. Except at an event, it still tries from time to
    /// time, so that it continues on its own after that.
    Stopped(OngoingFailure),
}

/// The reason why a subscriber does not continue.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OngoingFailure {
    /// The error as text.
    pub reason: String,
    /// The time of the first of the failures that follow each other.
    pub since: Timestamp,
    /// The part that failed.
    pub cause: TroubleCause,
    /// The event concerned, if there is one.
    pub event: Option<PoisonEvent>,
}

/// The part of a subscriber that failed.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleCause {
    /// An event that cannot be read or handled.
    Event,
    /// The event store.
    EventStore,
    /// The database of the read models, or that of the tasks of reactions.
    Database,
    /// The database of the read models has no space.
    Space,
    /// The rows or the table of the read model.
    Rows,
    /// The position and the tasks of a reaction.
    Checkpoint,
    /// A call of a reaction, or a command that it sends.
    Action,
}

/// A failure of a subscriber.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriberFailure {
    pub cause: TroubleCause,
    pub reason: String,
    pub event: Option<PoisonEvent>,
    /// True if a later attempt may succeed although nobody removes the cause.
    pub is_transient: bool,
}

impl SubscriberFailure {
    /// Creates a failure without an event.
    pub fn new(cause: TroubleCause, is_transient: bool, reason: impl ToString) -> Self {
        Self {
            cause,
            reason: shorten_reason(reason.to_string()),
            event: None,
            is_transient,
        }
    }

    /// Creates the failure of the event store.
    #[must_use]
    pub fn of_event_store(error: &StoreError) -> Self {
        Self::new(TroubleCause::EventStore, error.is_transient(), error)
    }
}

impl From<PoisonEvent> for SubscriberFailure {
    fn from(event: PoisonEvent) -> Self {
        Self {
            event: Some(event.clone()),
            ..Self::new(TroubleCause::Event, false, event)
        }
    }
}

impl SubscriberState {
    /// Returns the name of the state: `working`, `retrying` or `stopped`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Retrying(_) => "retrying",
            Self::Stopped(_) => "stopped",
        }
    }

    /// Returns the reason why it does not continue.
    #[must_use]
    pub const fn trouble(&self) -> Option<&OngoingFailure> {
        match self {
            Self::Working => None,
            Self::Retrying(trouble) | Self::Stopped(trouble) => Some(trouble),
        }
    }

    /// Returns the event concerned, if there is one.
    #[must_use]
    pub fn poison_event(&self) -> Option<&PoisonEvent> {
        self.trouble().and_then(|trouble| trouble.event.as_ref())
    }

    /// Returns true if somebody has to remove the cause.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped(_))
    }

    /// Returns true if it has stopped at an event, where only an operator or a restart makes it try again.
    #[must_use]
    pub fn is_stopped_at_event(&self) -> bool {
        self.is_stopped() && self.poison_event().is_some()
    }

    /// Returns true if the health check reports it: it has stopped, or has retried for ten seconds.
    #[must_use]
    pub fn is_down(&self) -> bool {
        match self {
            Self::Working => false,
            Self::Stopped(_) => true,
            Self::Retrying(trouble) => {
                let limit = SignedDuration::try_from(OUTAGE_AFTER).unwrap_or_default();
                Timestamp::now().duration_since(trouble.since) >= limit
            }
        }
    }

    /// Returns true if events are known that the rows lack because the rows cannot be written.
    #[must_use]
    pub fn has_stale_rows(&self) -> bool {
        let is_of_rows = |trouble: &OngoingFailure| {
            matches!(
                trouble.cause,
                TroubleCause::Database | TroubleCause::Space | TroubleCause::Rows
            )
        };
        self.is_down() && self.trouble().is_some_and(is_of_rows)
    }

    /// Returns the commands of operators that help in this state.
    #[must_use]
    pub fn exits(&self, kind: ComponentKind) -> Vec<OperatorCommand> {
        use OperatorCommand::{Rebuild, Replay, Retry, Skip};

        let cause = self.trouble().map(|trouble| trouble.cause);
        let helps = |command: &OperatorCommand| match (*command, kind) {
            (Rebuild, ComponentKind::ReadModel) => {
                matches!(cause, None | Some(TroubleCause::Event | TroubleCause::Rows))
            }
            (Rebuild, ComponentKind::Reaction) => cause == Some(TroubleCause::Checkpoint),
            (Retry, _) => cause.is_some(),
            (Skip, _) => self.poison_event().is_some(),
            (Replay, _) => false,
        };
        kind.commands().iter().copied().filter(helps).collect()
    }

    /// Records that the subscriber failed. The time of the first of several failures stays.
    #[doc(hidden)]
    pub fn record_failure(&mut self, failure: SubscriberFailure) {
        let since = self.trouble().map(|trouble| trouble.since);
        let trouble = OngoingFailure {
            reason: failure.reason,
            since: since.unwrap_or_else(Timestamp::now),
            cause: failure.cause,
            event: failure.event,
        };
        *self = if failure.is_transient {
            Self::Retrying(trouble)
        } else {
            Self::Stopped(trouble)
        };
    }
}

#[cfg(test)]
mod tests {
    use es_event::EventId;

    use super::*;

    fn failed(failures: impl IntoIterator<Item = SubscriberFailure>) -> SubscriberState {
        let mut state = SubscriberState::default();
        failures
            .into_iter()
            .for_each(|failure| state.record_failure(failure));
        state
    }

    #[test]
    fn each_state_has_the_exits_that_help() {
        use OperatorCommand::{Rebuild, Retry, Skip};
        use TroubleCause::{Action, Checkpoint, Database, EventStore, Rows, Space};

        let poison = SubscriberFailure::from(PoisonEvent::unreadable(EventId::FIRST, "torn"));
        let without_event = |cause| SubscriberFailure::new(cause, false, "no");
        for (failure, read_model, reaction) in [
            (poison, vec![Rebuild, Retry, Skip], vec![Retry, Skip]),
            (without_event(Rows), vec![Rebuild, Retry], vec![Retry]),
            (without_event(Space), vec![Retry], vec![Retry]),
            (without_event(Database), vec![Retry], vec![Retry]),
            (without_event(EventStore), vec![Retry], vec![Retry]),
            (without_event(Action), vec![Retry], vec![Retry]),
            (without_event(Checkpoint), vec![Retry], vec![Rebuild, Retry]),
        ] {
            let state = failed([failure]);
            assert_eq!(
                state.exits(ComponentKind::ReadModel),
                read_model,
                "{state:?}"
            );
            assert_eq!(state.exits(ComponentKind::Reaction), reaction, "{state:?}");
            assert!(state.is_stopped() && state.is_down());
        }
        assert!(
            SubscriberState::Working
                .exits(ComponentKind::Reaction)
                .is_empty()
        );
    }

    #[test]
    fn a_failure_that_is_retried_is_an_outage_after_ten_seconds() {
        let away = || SubscriberFailure::new(TroubleCause::Database, true, "away");
        let mut state = failed([away()]);
        assert!(!state.is_down() && !state.has_stale_rows());
        let SubscriberState::Retrying(trouble) = &mut state else {
            panic!("{state:?}");
        };
        trouble.since -= SignedDuration::from_secs(11);
        let since = trouble.since;
        state.record_failure(away());
        assert_eq!(
            state.trouble().unwrap().since,
            since,
            "the first failure counts"
        );
        assert!(state.is_down() && state.has_stale_rows() && !state.is_stopped());
    }
}
