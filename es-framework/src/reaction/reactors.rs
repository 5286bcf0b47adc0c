//! Runs the reactions of an application: each follows the event store by itself, so that one that
//! cannot go on holds no other up.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::join_all;

use super::{
    ReactionDescriptor, ReactionError, Reactions, Statuses,
    perform::{Ground, Performer},
    reactor::Reactor,
    stopped::{Failed, Stop},
};

use crate::operator::{ComponentKind, OperatorClient, OperatorError, OperatorRequests};

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
    operator: OperatorClient,
    requests: BTreeMap<&'static str, OperatorRequests>,
}

impl Reactors {
    pub(crate) fn new(ground: Ground, reactions: Reactions) -> Self {
        let names = reactions.iter().map(|reaction| reaction.name);
        let (operator, requests) = OperatorClient::separate(ComponentKind::Reaction, names);
        Self {
            ground: Arc::new(ground),
            reactions,
            statuses: Statuses::default(),
            operator,
            requests,
        }
    }

    /// Returns the statuses of the reactions.
    #[must_use]
    pub fn statuses(&self) -> Statuses {
        self.statuses.clone()
    }

    /// Returns the client that sends the commands of operators to the reactions.
    #[must_use]
    pub fn operator(&self) -> OperatorClient {
        self.operator.clone()
    }

    /// Reacts until the returned future is dropped, which may happen at any moment: what was not
    /// noted as done is done again by the next start, and commands take effect once.
    pub async fn run(mut self) {
        let reactors = self.reactions.iter().filter_map(|reaction| {
            let performer = Performer {
                reaction: *reaction,
                ground: Arc::clone(&self.ground),
                statuses: self.statuses.clone(),
            };
            let requests = self.requests.remove(reaction.name)?;
            Some(run_one(performer, requests))
        });
        join_all(reactors.collect::<Vec<_>>()).await;
    }
}

/// Why a reaction does not go on.
enum Ended {
    /// An event stopped it.
    Stopped(Box<Reactor>, Box<Stop>),
    /// The event store failed; whether something was taken before.
    Away(ReactionError, bool),
}

async fn run_one(performer: Performer, mut requests: OperatorRequests) {
    let (name, statuses) = (performer.reaction.name, performer.statuses.clone());
    let mut pause = FIRST_PAUSE;
    loop {
        let error = match unstopped(name, &mut requests, follow(performer.clone())).await {
            Ended::Stopped(reactor, stop) => {
                reactor.stand(&stop, &mut requests).await;
                continue;
            }
            Ended::Away(error, has_moved) => {
                if has_moved {
                    pause = FIRST_PAUSE;
                }
                error
            }
        };
        tracing::warn!(reaction = name, %error, "a reaction does not follow the event store; it tries again");
        statuses.change(name, |status| status.trouble = Some(error.to_string()));
        unstopped(name, &mut requests, tokio::time::sleep(pause)).await;
        pause = pause.saturating_mul(2).min(LAST_PAUSE);
    }
}

async fn follow(performer: Performer) -> Ended {
    match Reactor::begin(performer).await {
        Ok(mut reactor) => match reactor.follow().await {
            Ok(never) => match never {},
            Err(Failed::At(stop)) => Ended::Stopped(Box::new(reactor), stop),
            Err(Failed::Store(error)) => Ended::Away(error, reactor.has_moved),
        },
        Err(error) => Ended::Away(error, false),
    }
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

/// Works, and meanwhile answers operators that nothing has stopped. A command that waited would hit
/// a later event.
async fn unstopped<T>(
    reaction: &'static str,
    requests: &mut OperatorRequests,
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            Some(request) = requests.recv() => {
                request.respond(Err(OperatorError::NotStopped(ComponentKind::Reaction, reaction)));
            }
        }
    }
}
