//! Folds the events of a subject into its states, with a limit.

use std::{
    fmt,
    time::{Duration, Instant},
};

use es_command::state::StateReplay;
use es_event::{EventId, RecordedEvent, Subject};
use es_store::{Bound, ReadOptions, StoreError};
use futures_util::TryStreamExt as _;
use serde_json::Value;

use crate::console::{Console, DeclaredState};

/// The most stored events that a page folds before it gives up.
const FOLDED: u64 = 20_000;
/// Time after which a page folds no further event.
const FOLD_TIME: Duration = Duration::from_secs(5);

/// A state before and after one event.
#[derive(Debug, Clone)]
pub(crate) struct FoldedState {
    pub(crate) before: Option<Value>,
    pub(crate) after: Result<Option<Value>, StateFailure>,
}

impl FoldedState {
    pub(crate) fn is_unchanged(&self) -> bool {
        matches!(&self.after, Ok(after) if *after == self.before)
    }
}

/// The reason why a state cannot be shown.
#[derive(Debug, Clone)]
pub(crate) struct StateFailure(String);

impl fmt::Display for StateFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The replay of one state of a subject.
struct FoldingState {
    state: DeclaredState,
    replay: StateReplay,
    failure: Option<StateFailure>,
}

impl FoldingState {
    fn begin(console: &Console, state: DeclaredState) -> Self {
        Self {
            state,
            replay: state.descriptor.begin_replay(console.upcasters.clone()),
            failure: None,
        }
    }

    /// Folds an event, unless the state does not include it or an earlier event failed.
    fn apply(&mut self, subject: &Subject, event: &RecordedEvent) {
        let is_included = self.state.recursive || event.subject == *subject;
        if self.failure.is_some() || !is_included {
            return;
        }
        let applied = self.replay.apply(event);
        self.failure = applied.err().map(|error| StateFailure(error.to_string()));
    }

    fn to_json(&self) -> Result<Option<Value>, StateFailure> {
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None => {
                let json = self.replay.to_json();
                json.map_err(|error| StateFailure(format!("the state has no JSON form: {error}")))
            }
        }
    }
}

/// The states beside the events of a page.
#[derive(Debug, Default)]
pub(crate) struct PageStates {
    /// For each event of the page, oldest first: each state of the subject before and after it, in the order of the
    /// declarations.
    pub(crate) steps: Vec<Vec<FoldedState>>,
    /// True if the subject has too many events before the page.
    pub(crate) is_too_long: bool,
}

/// Computes the states before and after each event of a page. `events` is the page, oldest first. The earlier
/// events of the subject are folded first.
pub(crate) async fn fold_states_for_page(
    console: &Console,
    subject: &Subject,
    states: &[DeclaredState],
    events: &[RecordedEvent],
) -> Result<PageStates, StoreError> {
    let mut page = PageStates::default();
    let Some(first) = events.first() else {
        return Ok(page);
    };
    let begin = states
        .iter()
        .map(|state| FoldingState::begin(console, *state));
    let mut folding: Vec<_> = begin.collect();
    let before = Some(Bound::Exclusive(first.id));
    page.is_too_long = !fold_stored(console, subject, before, &mut folding).await?;
    if page.is_too_long {
        return Ok(page);
    }
    let to_json = |folding: &[FoldingState]| folding.iter().map(FoldingState::to_json).collect();
    let mut last: Vec<Result<Option<Value>, StateFailure>> = to_json(&folding);
    for event in events {
        for one in &mut folding {
            one.apply(subject, event);
        }
        let now: Vec<_> = to_json(&folding);
        let steps = last
            .into_iter()
            .zip(&now)
            .map(|(before, after)| FoldedState {
                before: before.unwrap_or_default(),
                after: after.clone(),
            });
        page.steps.push(steps.collect());
        last = now;
    }
    Ok(page)
}

/// Folds the stored events up to a bound. Returns false if they are too many.
async fn fold_stored(
    console: &Console,
    subject: &Subject,
    upper_bound: Option<Bound>,
    folding: &mut [FoldingState],
) -> Result<bool, StoreError> {
    let options = ReadOptions {
        recursive: folding.iter().any(|one| one.state.recursive),
        upper_bound,
        ..ReadOptions::default()
    };
    let begin = Instant::now();
    let mut events = console.store.read(subject.clone(), options);
    let mut count = 0_u64;
    while let Some(event) = events.try_next().await? {
        count = count.saturating_add(1);
        if count > FOLDED || begin.elapsed() > FOLD_TIME {
            return Ok(false);
        }
        for one in &mut *folding {
            one.apply(subject, &event);
        }
    }
    Ok(true)
}

/// Folds one state of a subject up to an event, and returns it.
pub(crate) async fn fold_until(
    console: &Console,
    subject: &Subject,
    state: DeclaredState,
    event: EventId,
) -> Result<Result<Option<Value>, StateFailure>, StoreError> {
    let mut folding = [FoldingState::begin(console, state)];
    let until = Some(Bound::Inclusive(event));
    let is_whole = fold_stored(console, subject, until, &mut folding).await?;
    let [folding] = folding;
    Ok(if is_whole {
        folding.to_json()
    } else {
        Err(StateFailure(too_long()))
    })
}

/// Returns the sentence on a subject with too many events.
pub(crate) fn too_long() -> String {
    format!(
        "The subject has too many events before this one to rebuild its states here: the console reads at most {FOLDED} events within {} seconds.",
        FOLD_TIME.as_secs()
    )
}
