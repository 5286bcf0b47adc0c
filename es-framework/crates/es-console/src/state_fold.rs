//! Folds the events of a subject into its states, with a limit.

use std::{
    collections::BTreeMap,
    ops::RangeInclusive,
    time::{Duration, Instant},
};

use es_command::state::StateReplay;
use es_event::{EventId, RecordedEvent, Subject};
use es_store::{Bound, EventStream, ReadOptions, StoreError};
use futures_util::TryStreamExt as _;
use maud::Markup;
use serde_json::Value;

use crate::console::{Console, DeclaredState};

/// The most stored events that a page folds.
const FOLDED: u64 = 20_000;
/// Time after which a page folds no further event.
const FOLD_TIME: Duration = Duration::from_secs(5);

/// A state before and after one event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoldedState<'a> {
    pub(crate) before: Option<&'a Value>,
    pub(crate) after: &'a StateResult,
}

/// A state as JSON, if there is one yet, or the reason why it cannot be shown.
pub(crate) type StateResult = Result<Option<Value>, String>;

impl FoldedState<'_> {
    pub(crate) fn is_unchanged(&self) -> bool {
        matches!(self.after, Ok(after) if after.as_ref() == self.before)
    }
}

/// The replay of one state of a subject.
struct FoldingState {
    state: DeclaredState,
    replay: StateReplay,
    failure: Option<String>,
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
        self.failure = applied.err().map(|error| error.to_string());
    }

    fn to_json(&self) -> StateResult {
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None => {
                let json = self.replay.to_json();
                json.map_err(|error| format!("the state has no JSON form: {error}"))
            }
        }
    }
}

/// The states beside the events of a page.
#[derive(Debug, Default)]
pub(crate) struct PageStates {
    /// The states of the subject before and after each event of the page, as HTML.
    pub(crate) steps: BTreeMap<EventId, Markup>,
    /// True if the subject has too many events to fold all of them.
    pub(crate) is_too_long: bool,
}

/// Folds the events of a subject up to the last one of a page, and renders the states before and after each event
/// of the page. `render` gets the states in the order of `states`. A state can be large, so memory holds only those
/// of two events.
pub(crate) async fn fold_states_for_page(
    console: &Console,
    subject: &Subject,
    states: &[DeclaredState],
    page_ids: Option<RangeInclusive<EventId>>,
    render: impl Fn(EventId, &[FoldedState<'_>]) -> Markup + Send,
) -> Result<PageStates, StoreError> {
    let mut page = PageStates::default();
    let Some(page_ids) = page_ids.filter(|_| !states.is_empty()) else {
        return Ok(page);
    };
    let begin = states
        .iter()
        .map(|state| FoldingState::begin(console, *state));
    let mut folding: Vec<_> = begin.collect();
    let to_json = |folding: &[FoldingState]| -> Vec<_> {
        folding.iter().map(FoldingState::to_json).collect()
    };
    let mut last: Option<Vec<StateResult>> = None;
    let mut events = LimitedEvents::read(console, subject, *page_ids.end(), &folding);
    while let Some(event) = events.next().await? {
        if !page_ids.contains(&event.id) {
            apply_to_all(&mut folding, subject, &event);
            continue;
        }
        let before = last.take().unwrap_or_else(|| to_json(&folding));
        apply_to_all(&mut folding, subject, &event);
        let after = to_json(&folding);
        page.steps
            .insert(event.id, render(event.id, &compare(&before, &after)));
        last = Some(after);
    }
    page.is_too_long = events.is_too_long;
    Ok(page)
}

fn apply_to_all(folding: &mut [FoldingState], subject: &Subject, event: &RecordedEvent) {
    for one in folding {
        one.apply(subject, event);
    }
}

/// Returns the states before and after one event.
fn compare<'a>(before: &'a [StateResult], after: &'a [StateResult]) -> Vec<FoldedState<'a>> {
    let pairs = before.iter().zip(after);
    let folded = pairs.map(|(before, after)| FoldedState {
        before: before.as_ref().ok().and_then(Option::as_ref),
        after,
    });
    folded.collect()
}

/// The stored events of a subject up to the limits of a page.
struct LimitedEvents {
    events: EventStream,
    begin: Instant,
    count: u64,
    is_too_long: bool,
}

impl LimitedEvents {
    /// Reads the events that the states include, up to one event.
    fn read(console: &Console, subject: &Subject, last: EventId, folding: &[FoldingState]) -> Self {
        let options = ReadOptions {
            recursive: folding.iter().any(|one| one.state.recursive),
            upper_bound: Some(Bound::Inclusive(last)),
            ..ReadOptions::default()
        };
        Self {
            events: console.state_store.read(subject.clone(), options),
            begin: Instant::now(),
            count: 0,
            is_too_long: false,
        }
    }

    /// Returns the next event, or `None` at the end and at a limit.
    async fn next(&mut self) -> Result<Option<RecordedEvent>, StoreError> {
        let Some(event) = self.events.try_next().await? else {
            return Ok(None);
        };
        self.count = self.count.saturating_add(1);
        self.is_too_long = self.count > FOLDED || self.begin.elapsed() > FOLD_TIME;
        Ok(Some(event).filter(|_| !self.is_too_long))
    }
}

/// Folds one state of a subject up to an event, and returns it.
pub(crate) async fn fold_until(
    console: &Console,
    subject: &Subject,
    state: DeclaredState,
    event: EventId,
) -> Result<StateResult, StoreError> {
    let mut folding = [FoldingState::begin(console, state)];
    let mut events = LimitedEvents::read(console, subject, event, &folding);
    let [state] = &mut folding;
    while let Some(event) = events.next().await? {
        state.apply(subject, &event);
    }
    Ok(if events.is_too_long {
        Err(too_long())
    } else {
        state.to_json()
    })
}

/// Returns the sentence on a subject with too many events.
pub(crate) fn too_long() -> String {
    format!(
        "The subject has too many events before this one to rebuild its states here: the console reads at most {FOLDED} events within {} seconds.",
        FOLD_TIME.as_secs()
    )
}
