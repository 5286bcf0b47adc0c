//! Runs the reactions of an application: each follows the event store by itself, so that one that
//! cannot go on holds no other up.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;

use super::{
    ReactionDescriptor, ReactionError, Reactions, Statuses,
    perform::{Ground, Performer},
    reactor::{Failed, Reactor},
};
use crate::event::RecordedEvent;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(5);

/// The reactions of an application at work.
///
/// ```
/// use std::time::Duration;
///
/// use es_framework::reaction::Reactors;
///
/// /// Reacts for an hour: whatever is not done by then is done after the next start.
/// async fn react_for_an_hour(reactors: Reactors) {
///     let _ = tokio::time::timeout(Duration::from_secs(60 * 60), reactors.run()).await;
/// }
/// ```
#[derive(Debug)]
pub struct Reactors {
    ground: Arc<Ground>,
    reactions: Reactions,
    statuses: Statuses,
}

impl Reactors {
    pub(crate) fn new(ground: Ground, reactions: Reactions) -> Self {
        Self {
            ground: Arc::new(ground),
            reactions,
            statuses: Statuses::default(),
        }
    }

    /// How they are doing.
    #[must_use]
    pub fn statuses(&self) -> Statuses {
        self.statuses.clone()
    }

    /// Reacts until the returned future is dropped, which may happen at any moment: what was not
    /// noted as done is done again by the next start, and commands take effect once.
    pub async fn run(self) {
        let reactors = self.reactions.iter().map(|reaction| {
            let performer = Performer {
                reaction: *reaction,
                ground: Arc::clone(&self.ground),
                statuses: self.statuses.clone(),
            };
            run_one(performer)
        });
        join_all(reactors).await;
    }
}

async fn run_one(performer: Performer) {
    let (name, statuses) = (performer.reaction.name, performer.statuses.clone());
    let mut pause = FIRST_PAUSE;
    loop {
        let error = match Reactor::begin(performer.clone()).await {
            Ok(mut reactor) => match reactor.follow().await {
                Ok(never) => match never {},
                Err(Failed::At(event, error)) => return stop(name, &statuses, &event, &error),
                Err(Failed::Store(error)) => {
                    if reactor.has_moved {
                        pause = FIRST_PAUSE;
                    }
                    error
                }
            },
            Err(error) => error,
        };
        tracing::warn!(reaction = name, %error, "a reaction does not follow the event store; it tries again");
        statuses.change(name, |status| status.trouble = Some(error.to_string()));
        tokio::time::sleep(pause).await;
        pause = pause.saturating_mul(2).min(LAST_PAUSE);
    }
}

/// Says at which event a reaction stops, and why.
fn stop(name: &'static str, statuses: &Statuses, event: &RecordedEvent, error: &ReactionError) {
    let RecordedEvent { id, subject, .. } = event;
    tracing::error!(reaction = name, event = %id, %subject, %error, "a reaction stops at an event that it cannot deal with; the others go on");
    let trouble = format!("it cannot deal with event {id} on {subject}: {error}");
    statuses.change(name, |status| {
        status.trouble = Some(trouble);
        status.is_stopped = true;
    });
}

/// Takes everything that is stored, and what follows from that: what a test of a reaction does.
pub(crate) async fn settle(
    ground: Ground,
    reaction: ReactionDescriptor,
) -> Result<(), ReactionError> {
    let performer = Performer {
        reaction,
        ground: Arc::new(ground),
        statuses: Statuses::default(),
    };
    let mut reactor = Reactor::begin(performer).await?;
    reactor.settle().await.map_err(Failed::into_error)
}
