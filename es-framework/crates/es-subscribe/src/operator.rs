//! The commands that operators send to read models and reactions.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use es_event::{EventId, EventSelection, PoisonEvent};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

/// Time that a projection or a reaction has to handle a command.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Number of commands that may wait.
const QUEUE_LENGTH: usize = 8;

/// A command of an operator to a projection or a reaction.
///
/// ```
/// use es_subscribe::operator::{OperatorClient, OperatorCommand, OperatorError};
///
/// /// Skips an event that nobody can repair.
/// async fn skip(operator: &OperatorClient) -> Result<(), OperatorError> {
///     let skipped = operator.send_command("book_copies", OperatorCommand::Skip).await?;
///     println!("skipped: {skipped:?}");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OperatorCommand {
    /// Rebuilds a read model in a shadow table while the current one keeps answering queries. A reaction
    /// whose tasks were lost begins anew.
    Rebuild,
    /// Tries again at once, also with the events of held keys. With a selection of events, these are no longer skipped.
    Retry,
    /// Skips the event that stopped the component and those at which keys are held, in every later run. With a
    /// selection of events, skips those of them that the component cannot handle.
    Skip,
    /// Delivers selected events to a sink again.
    Replay,
}

/// The kind of component that an operator commands.
///
/// ```
/// use es_subscribe::operator::ComponentKind;
///
/// assert_eq!(ComponentKind::ReadModel.to_string(), "read model");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComponentKind {
    /// A read model with its projection.
    ReadModel,
    /// A reaction.
    Reaction,
}

impl OperatorCommand {
    /// Returns the last segment of its paths, which is also the name of the subcommand.
    #[doc(hidden)]
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Rebuild => "rebuild",
            Self::Retry => "retry",
            Self::Skip => "skip",
            Self::Replay => "replay",
        }
    }
}

impl ComponentKind {
    /// Returns the commands that components of this kind take.
    #[doc(hidden)]
    #[must_use]
    pub const fn commands(self) -> &'static [OperatorCommand] {
        match self {
            Self::ReadModel => &[
                OperatorCommand::Rebuild,
                OperatorCommand::Retry,
                OperatorCommand::Skip,
            ],
            Self::Reaction => &[
                OperatorCommand::Rebuild,
                OperatorCommand::Retry,
                OperatorCommand::Skip,
                OperatorCommand::Replay,
            ],
        }
    }
}

impl fmt::Display for ComponentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadModel => "read model",
            Self::Reaction => "reaction",
        })
    }
}

/// The reason why a component does not carry out a command of an operator.
///
/// ```
/// use es_subscribe::operator::{ComponentKind, OperatorError};
///
/// let error = OperatorError::Unknown(ComponentKind::ReadModel, "boks".into());
/// assert_eq!(error.to_string(), "there is no read model named boks");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperatorError {
    /// No component has this name.
    #[error("there is no {0} named {1}")]
    Unknown(ComponentKind, String),
    /// No event stopped the component, and it holds no key that the command selects.
    #[error(
        "the {0} {1} has not stopped at an event and holds no such key: the command needs a selection of events"
    )]
    NotStopped(ComponentKind, &'static str),
    /// The store does not have a selected event.
    #[error("event {0} is not recorded: select events that the event store has")]
    NoSuchEvent(EventId),
    /// The reaction has its tasks, with which it continues.
    #[error("the reaction {0} cannot be rebuilt: it has its tasks")]
    CannotRebuild(&'static str),
    /// Only a sink delivers events again.
    #[error("the {0} {1} cannot replay events: only a sink delivers them again")]
    CannotReplay(ComponentKind, &'static str),
    /// The events of a replay are not selected in a way that a replay takes.
    #[error("a replay {0}")]
    WrongReplay(&'static str),
    /// The read model is being rebuilt already.
    #[error("the {0} {1} is being rebuilt already")]
    Rebuilding(ComponentKind, &'static str),
    /// Another process updates the read models, or runs the reactions.
    #[error("another process does this work: send the command to that process")]
    StandsBy,
    /// The database or the event store failed.
    #[error("the {0} cannot save the result of the command: {1}")]
    Failed(ComponentKind, String),
    /// The component is busy, waits for its database, or has ended.
    #[error("the {0}s do not answer at the moment: try again")]
    Busy(ComponentKind),
}

/// The outcome of a command.
///
/// ```
/// use es_subscribe::operator::OperatorOutcome;
///
/// let nothing = OperatorOutcome::default();
/// assert_eq!((nothing.event, nothing.retried, nothing.released), (None, 0, 0));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperatorOutcome {
    /// The event that had stopped the component, if the command was about it.
    pub event: Option<PoisonEvent>,
    /// The number of held keys that the command was about.
    pub retried: usize,
    /// The number of those that are held no longer.
    pub released: usize,
    /// The result of a replay.
    pub replay: Option<ReplayOutcome>,
}

/// The result of a replay.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Replay")]
pub struct ReplayOutcome {
    /// The number of deliveries that were planned.
    pub planned: usize,
    /// The event with which the next replay goes on, if the range has more events than one replay reads.
    #[schemars(with = "Option<String>")]
    pub next: Option<EventId>,
}

/// The outcome of a command, or the reason why the component does not carry it out.
#[doc(hidden)]
pub type OperatorResult = Result<OperatorOutcome, OperatorError>;

/// A command of an operator that waits for its result.
#[doc(hidden)]
#[derive(Debug)]
pub struct OperatorRequest {
    /// The name of the component.
    pub component: &'static str,
    /// The command.
    pub command: OperatorCommand,
    /// The events that the command is about. Without them, it is about the event that stopped the component.
    pub selection: Option<EventSelection>,
    result: oneshot::Sender<OperatorResult>,
}

impl OperatorRequest {
    /// Sends the result to the operator, who may have stopped waiting.
    pub fn send_result(self, result: OperatorResult) {
        let _ = self.result.send(result);
    }

    /// Returns whether the operator still waits for the result.
    pub fn is_awaited(&self) -> bool {
        !self.result.is_closed()
    }
}

/// The receiving end of an operator's commands.
#[doc(hidden)]
pub type OperatorRequests = mpsc::Receiver<OperatorRequest>;

/// Sends the commands of an operator to the projections or the reactions of an application.
///
/// ```
/// use es_subscribe::operator::{ComponentKind, OperatorClient, OperatorCommand, OperatorError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (operator, _) = OperatorClient::with_shared_queue(ComponentKind::ReadModel, std::iter::empty());
/// let result = operator.send_command("book_copies", OperatorCommand::Rebuild).await;
/// let unknown = OperatorError::Unknown(ComponentKind::ReadModel, "book_copies".into());
/// assert_eq!(result, Err(unknown));
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OperatorClient {
    kind: ComponentKind,
    components: Arc<BTreeMap<&'static str, mpsc::Sender<OperatorRequest>>>,
}

impl OperatorClient {
    /// Creates a client of components that share one queue, as read models do.
    pub fn with_shared_queue(
        kind: ComponentKind,
        names: impl Iterator<Item = &'static str>,
    ) -> (Self, OperatorRequests) {
        let (sender, requests) = mpsc::channel(QUEUE_LENGTH);
        let components = names.map(|name| (name, sender.clone())).collect();
        (Self::new(kind, components), requests)
    }

    /// Creates a client of components that have a queue each, as reactions do.
    pub fn with_own_queues(
        kind: ComponentKind,
        names: impl Iterator<Item = &'static str>,
    ) -> (Self, BTreeMap<&'static str, OperatorRequests>) {
        let (mut components, mut requests) = (BTreeMap::new(), BTreeMap::new());
        for name in names {
            let (sender, receiver) = mpsc::channel(QUEUE_LENGTH);
            components.insert(name, sender);
            requests.insert(name, receiver);
        }
        (Self::new(kind, components), requests)
    }

    fn new(
        kind: ComponentKind,
        components: BTreeMap<&'static str, mpsc::Sender<OperatorRequest>>,
    ) -> Self {
        let components = Arc::new(components);
        Self { kind, components }
    }

    /// Sends a command to the component of this name, and returns what it was about.
    ///
    /// # Errors
    /// See [`OperatorError`].
    pub async fn send_command(
        &self,
        component: &str,
        command: OperatorCommand,
    ) -> Result<OperatorOutcome, OperatorError> {
        self.send_selection(component, command, None).await
    }

    /// Sends a command about some events to the component of this name, and returns what it was about.
    ///
    /// # Errors
    /// See [`OperatorError`].
    pub async fn send_selection(
        &self,
        component: &str,
        command: OperatorCommand,
        selection: Option<EventSelection>,
    ) -> Result<OperatorOutcome, OperatorError> {
        let Some((&component, sender)) = self.components.get_key_value(component) else {
            let name = component.chars().take(100).collect();
            return Err(OperatorError::Unknown(self.kind, name));
        };
        let (result, received) = oneshot::channel();
        let request = OperatorRequest {
            component,
            command,
            selection,
            result,
        };
        let response = async {
            sender.send(request).await.ok()?;
            received.await.ok()
        };
        let response = tokio::time::timeout(TIMEOUT, response).await.ok().flatten();
        response.unwrap_or(Err(OperatorError::Busy(self.kind)))
    }
}
