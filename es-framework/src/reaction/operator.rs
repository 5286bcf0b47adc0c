//! What an operator asks of reactions on purpose: nothing here ever happens by itself.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::mpsc;

use super::{ReactionError, ReactionStatuses, Refused};
use crate::operator;

/// What is asked of a reaction that an event stopped.
///
/// ```
/// # use es_framework::reaction::{Asked, Operator, OperatorError};
/// /// Goes on behind an event that nobody can mend.
/// async fn leave_out(operator: &Operator) -> Result<(), OperatorError> {
///     let left_out = operator.ask("LoanReminder", Asked::Skip).await?;
///     println!("left out: {}", left_out.id);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// To take the event once more.
    Retry,
    /// To leave out what it cannot do about the event, for ever and in every instance.
    Skip,
}

/// Why a reaction does not do what an operator asks.
///
/// ```
/// use es_framework::reaction::OperatorError;
///
/// let error = OperatorError::NotStopped("LoanReminder");
/// assert_eq!(error.to_string(), "the reaction LoanReminder has not stopped at an event");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// There is no reaction of this name.
    #[error("there is no reaction named {0}")]
    Unknown(String),
    /// It has not stopped.
    #[error("the reaction {0} has not stopped at an event")]
    NotStopped(&'static str),
    /// The event store did not take the note.
    #[error("it cannot be noted in the event store: {0}")]
    Store(#[from] ReactionError),
    /// The reaction is busy, or has ended.
    #[error("the reactions do not answer at the moment: try again")]
    Silent,
}

/// Carries what an operator asks to the reactions.
///
/// ```
/// use es_framework::reaction::{Asked, Operator, OperatorError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let of_no_reaction = Operator::default();
/// let answer = of_no_reaction.ask("LoanReminder", Asked::Retry).await;
/// assert!(matches!(answer, Err(OperatorError::Unknown(name)) if name == "LoanReminder"));
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Operator {
    statuses: ReactionStatuses,
    reactions: Arc<BTreeMap<&'static str, mpsc::Sender<Request>>>,
}

/// The event that is meant.
type Answer = Result<Refused, OperatorError>;

pub(super) type Request = operator::Request<Asked, Answer>;

/// What the reactions of these names are asked.
pub(super) type Requests = BTreeMap<&'static str, mpsc::Receiver<Request>>;

impl Operator {
    pub(super) fn of(
        names: impl Iterator<Item = &'static str>,
        statuses: ReactionStatuses,
    ) -> (Self, Requests) {
        let (mut reactions, mut requests) = (BTreeMap::new(), BTreeMap::new());
        for name in names {
            let (sender, receiver) = mpsc::channel(operator::WAITING);
            reactions.insert(name, sender);
            requests.insert(name, receiver);
        }
        let reactions = Arc::new(reactions);
        (
            Self {
                statuses,
                reactions,
            },
            requests,
        )
    }

    /// How the reactions are doing.
    #[must_use]
    pub fn statuses(&self) -> &ReactionStatuses {
        &self.statuses
    }

    /// Asks something of a reaction, and says which event was taken again or left out.
    ///
    /// # Errors
    /// See [`OperatorError`].
    pub async fn ask(&self, reaction: &str, asked: Asked) -> Result<Refused, OperatorError> {
        let Some((name, sender)) = self.reactions.get_key_value(reaction) else {
            let name = reaction.chars().take(100).collect();
            return Err(OperatorError::Unknown(name));
        };
        if self.statuses.stopped_at(name).is_none() {
            return Err(OperatorError::NotStopped(name));
        }
        let answer = operator::ask(sender, asked).await;
        answer.unwrap_or(Err(OperatorError::Silent))
    }
}

/// Works, and tells operators meanwhile that nothing has stopped: what they ask must not be carried
/// out later, on another event.
pub(super) async fn unstopped<T>(
    reaction: &'static str,
    requests: &mut mpsc::Receiver<Request>,
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            Some(request) = requests.recv() => {
                request.answer(Err(OperatorError::NotStopped(reaction)));
            }
        }
    }
}
