//! The states that a step decides on: those after its event, so that a retry decides the same.

use futures_util::future::BoxFuture;

use super::{OutgoingCommands, ReactionContext, ReactionError};
use crate::{command::IsState, state::RebuildError};
use es_event::Subject;

/// The commands of a step whose states are being rebuilt.
///
/// ```
/// use es_framework::reaction::{OutgoingCommands, PendingCommands, box_commands};
///
/// let nothing: PendingCommands = box_commands(async { Ok(OutgoingCommands::default()) });
/// ```
pub type PendingCommands = BoxFuture<'static, Result<OutgoingCommands, ReactionError>>;

/// Boxes the decision of a step.
///
/// ```
/// use es_framework::reaction::{OutgoingCommands, box_commands};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let decided = box_commands(async { Ok(OutgoingCommands::default()) }).await;
/// assert_eq!(decided.unwrap().iter().count(), 0);
/// # }
/// ```
pub fn box_commands(
    decision: impl Future<Output = Result<OutgoingCommands, ReactionError>> + Send + 'static,
) -> PendingCommands {
    Box::pin(decision)
}

impl ReactionContext<'_> {
    /// Rebuilds a state from the events of a subject, up to the event of the step. `recursive` includes the subjects
    /// below it. The state is missing if none of these events leads to it.
    #[doc(hidden)]
    pub fn rebuild<S: IsState>(
        &self,
        subject: Subject,
        recursive: bool,
    ) -> BoxFuture<'static, Result<Option<S>, ReactionError>> {
        let states = self.resources.states_after(self.event);
        Box::pin(async move {
            let rebuilt = states.rebuild::<S>(&subject, recursive).await;
            Ok(rebuilt?.state)
        })
    }

    /// Rebuilds a state that is an error if it is missing.
    #[doc(hidden)]
    pub fn rebuild_required<S: IsState>(
        &self,
        subject: Subject,
        recursive: bool,
    ) -> BoxFuture<'static, Result<S, ReactionError>> {
        let rebuilding = self.rebuild::<S>(subject.clone(), recursive);
        let state = S::NAME;
        Box::pin(async move {
            let missing = || ReactionError::NoState { state, subject };
            rebuilding.await?.ok_or_else(missing)
        })
    }
}

impl From<RebuildError> for ReactionError {
    fn from(error: RebuildError) -> Self {
        match error {
            RebuildError::Store(error) => error.into(),
            RebuildError::Decode(error) => error.into(),
        }
    }
}
