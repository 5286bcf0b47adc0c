//! The states that a step takes: those after its event or at its scheduled time, so that a retry takes the same.

use std::sync::Arc;

use futures_util::{FutureExt as _, TryFutureExt as _, future, future::BoxFuture};

use super::{OutgoingCommands, ReactionContext, ReactionError};
use crate::{
    command::{InjectIntoCall, IsState, RebuildFunction, StateFunctions},
    state::{RebuildError, StateScope},
};
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
    /// Rebuilds a state from the events of a subject, up to the event or the scheduled time of the step. `recursive`
    /// includes the subjects below it. The state is missing if none of these events leads to it.
    #[doc(hidden)]
    pub fn rebuild<S: IsState>(
        &self,
        subject: Subject,
        recursive: bool,
    ) -> BoxFuture<'static, Result<Option<S>, ReactionError>> {
        self.rebuild_with(
            |states, scope| states.rebuild(&scope.subject, scope.recursive).boxed(),
            StateScope { subject, recursive },
        )
    }

    /// Rebuilds a state that is an error if it is missing.
    #[doc(hidden)]
    pub fn rebuild_required<S: IsState>(
        &self,
        subject: Subject,
        recursive: bool,
    ) -> BoxFuture<'static, Result<S, ReactionError>> {
        let rebuilding = self.rebuild::<S>(subject.clone(), recursive);
        require(S::NAME, subject, rebuilding).boxed()
    }

    /// Returns a service, or rebuilds the state of a subject that is an error if it is missing.
    #[doc(hidden)]
    pub fn inject<T: InjectIntoCall>(
        &self,
        name: &'static str,
        subject: Subject,
    ) -> BoxFuture<'static, Result<Arc<T>, ReactionError>> {
        let Some(StateFunctions {
            descriptor,
            rebuild,
            ..
        }) = T::SOURCE.state_functions()
        else {
            return future::ready(self.service(name)).boxed();
        };
        let scope = StateScope {
            subject: subject.clone(),
            recursive: false,
        };
        let rebuilding = self.rebuild_with(*rebuild, scope);
        require(descriptor.name, subject, rebuilding)
            .map_ok(Arc::new)
            .boxed()
    }

    fn rebuild_with<T: Send + 'static>(
        &self,
        rebuild: RebuildFunction<T>,
        scope: StateScope,
    ) -> BoxFuture<'static, Result<Option<T>, ReactionError>> {
        let states = self.resources.states_at(self.states_end);
        Box::pin(async move { Ok(rebuild(&states, &scope).await?.state) })
    }
}

async fn require<T>(
    state: &'static str,
    subject: Subject,
    rebuilding: BoxFuture<'static, Result<Option<T>, ReactionError>>,
) -> Result<T, ReactionError> {
    let missing = || ReactionError::NoState { state, subject };
    rebuilding.await?.ok_or_else(missing)
}

impl From<RebuildError> for ReactionError {
    fn from(error: RebuildError) -> Self {
        match error {
            RebuildError::Store(error) => error.into(),
            RebuildError::Decode(error) => error.into(),
        }
    }
}
