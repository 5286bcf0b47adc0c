//! Tests of the command pipeline over a store with injected faults.

mod again;
mod answer_order;
mod bank;
mod late_copy;
mod personal_values;
mod states_of_subjects;
mod subjects;
mod unique_values;
mod unreadable;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use async_trait::async_trait;
use futures_util::TryStreamExt as _;

use serde_json::value::RawValue;

use super::{
    CommandContext, CommandDescriptor, CommandError, CommandOutcome, CommandRequest,
    CommandResources, Handle,
};
use crate::prelude::*;
use es_event::{EventCandidate, RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog as _, ForwardingLog, Precondition, ReadOptions, memory::MemoryStore,
};

#[derive(Command)]
#[command(subject = "/trees/{id}", condition = pristine)]
struct PlantTreeCommand {
    id: String,
    kind: String,
    num_leaves: i64,
}

#[derive(Event)]
struct TreePlantedEvent {
    kind: String,
    num_leaves: i64,
}

#[handler]
fn plant_tree(command: PlantTreeCommand) -> TreePlantedEvent {
    let PlantTreeCommand {
        kind, num_leaves, ..
    } = command;
    TreePlantedEvent { kind, num_leaves }
}

#[derive(Command)]
#[command(subject = "/trees/{id}", condition = exists)]
struct WaterTreeCommand {
    id: String,
}

#[derive(Event)]
struct TreeWateredEvent {}

#[handler]
fn water_tree(_: WaterTreeCommand) -> TreeWateredEvent {
    TreeWateredEvent {}
}

#[derive(Command)]
#[command(subject = "/trees/{id}")]
struct PaintTreeCommand {
    id: String,
}

#[derive(Event)]
struct TreePaintedEvent {}

/// Reads nothing, so the append has no precondition.
#[handler]
fn paint_tree(_: PaintTreeCommand) -> TreePaintedEvent {
    TreePaintedEvent {}
}

/// The fault that an append meets.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// The connection breaks before the store has written.
    BreaksBefore,
    /// The connection breaks after the store has written.
    BreaksAfter,
    /// Another writer is faster, and then the connection breaks.
    RivalThenBreak,
    /// Another instance is faster with a command that is the same but for the color, and then the connection breaks.
    OtherColorThenBreak,
    /// Another writer is faster.
    Rival,
}

/// A store that injects a fault into the first few appends.
#[derive(Debug)]
struct FaultyStore {
    inner: MemoryStore,
    fault: Fault,
    left: AtomicU32,
}

impl FaultyStore {
    async fn let_rival_write(&self, candidates: &[EventCandidate]) {
        let mut rival = candidates.to_vec();
        for candidate in &mut rival {
            candidate.source = "rival".into();
        }
        self.inner.append(rival, vec![]).await.unwrap();
    }
}

#[async_trait]
impl ForwardingLog for FaultyStore {
    fn inner(&self) -> MemoryStore {
        self.inner.clone()
    }

    async fn append_events(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        let faulty = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            })
            .is_ok();
        if !faulty {
            return self.inner.append(candidates, preconditions).await;
        }
        match self.fault {
            Fault::BreaksBefore => {}
            Fault::BreaksAfter => {
                self.inner.append(candidates, preconditions).await?;
            }
            Fault::RivalThenBreak => self.let_rival_write(&candidates).await,
            Fault::OtherColorThenBreak => {
                let mut rival = candidates;
                for candidate in &mut rival {
                    let data = candidate.data.get().replace("red", "blue");
                    candidate.data = RawValue::from_string(data).unwrap();
                }
                self.inner.append(rival, vec![]).await?;
            }
            Fault::Rival => {
                self.let_rival_write(&candidates).await;
                return self.inner.append(candidates, preconditions).await;
            }
        }
        Err(AppendError::Unknown {
            address: "http://store".into(),
            reason: "connection reset".into(),
        })
    }
}

/// Creates resources over a store whose first appends fail.
fn resources(fault: Fault, times: u32) -> (CommandResources, MemoryStore) {
    let inner = MemoryStore::new();
    let left = AtomicU32::new(times);
    let store = FaultyStore {
        inner: inner.clone(),
        fault,
        left,
    };
    (CommandResources::new(Arc::new(store), "garden"), inner)
}

async fn execute<C: Handle>(
    resources: &CommandResources,
    body: &str,
) -> Result<CommandOutcome, CommandError> {
    let text = CommandRequest {
        body: body.as_bytes(),
        path_parameters: &[],
        context: &CommandContext::default(),
    };
    CommandDescriptor::of::<C>().execute(resources, text).await
}

async fn plant(resources: &CommandResources) -> Result<CommandOutcome, CommandError> {
    execute::<PlantTreeCommand>(resources, r#"{"id":"t1","kind":"oak","numLeaves":7}"#).await
}

async fn water(resources: &CommandResources) -> Result<CommandOutcome, CommandError> {
    execute::<WaterTreeCommand>(resources, r#"{"id":"t1"}"#).await
}

async fn stored(store: &MemoryStore) -> usize {
    let events = store.read(Subject::root(), ReadOptions::recursive());
    events.try_collect::<Vec<_>>().await.unwrap().len()
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_answer_was_lost_is_found_again() {
    let (resources, store) = resources(Fault::BreaksAfter, 1);
    let outcome = plant(&resources).await.unwrap();
    assert_eq!(outcome.position.map(|id| id.get()), Some(0));
    assert_eq!(stored(&store).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_never_arrived_is_not_sent_again_blindly() {
    let (resources, store) = resources(Fault::BreaksBefore, 1);
    let error = plant(&resources).await.unwrap_err();
    assert!(matches!(error, CommandError::Unknown { .. }), "{error}");
    assert_eq!(stored(&store).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_rivals_event_is_not_taken_for_ones_own() {
    let (resources, store) = resources(Fault::RivalThenBreak, 1);
    let error = plant(&resources).await.unwrap_err();
    assert!(matches!(error, CommandError::AlreadyExists(_)), "{error}");
    assert_eq!(stored(&store).await, 1);
}

#[tokio::test(start_paused = true)]
async fn an_earlier_event_is_not_taken_for_one_that_never_arrived() {
    let (faulty, store) = resources(Fault::BreaksBefore, 1);
    let body = r#"{"id":"t1"}"#;
    let healthy = CommandResources::new(Arc::new(store.clone()), "garden");
    execute::<PaintTreeCommand>(&healthy, body).await.unwrap();
    let error = execute::<PaintTreeCommand>(&faulty, body).await;
    let error = error.unwrap_err();
    assert_eq!(
        error.to_string(),
        "it is unknown whether the command on /trees/t1 was carried out: connection reset"
    );
    assert_eq!(stored(&store).await, 1);
}

#[tokio::test]
async fn a_pristine_subject_that_a_rival_took_is_a_conflict_at_once() {
    let (resources, _) = resources(Fault::Rival, 1);
    let error = plant(&resources).await.unwrap_err();
    assert!(matches!(error, CommandError::AlreadyExists(_)), "{error}");
}

#[tokio::test]
async fn a_subject_that_must_exist_is_asked_for_first() {
    let (resources, _) = resources(Fault::Rival, 0);
    let error = water(&resources).await.unwrap_err();
    assert!(matches!(error, CommandError::NotFound(_)), "{error}");
    plant(&resources).await.unwrap();
    let outcome = water(&resources).await.unwrap();
    assert!(!outcome.created);
    assert_eq!(outcome.position.map(|id| id.get()), Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_subject_that_moved_is_read_and_decided_on_again() {
    let (faulty, store) = resources(Fault::Rival, 2);
    plant(&CommandResources::new(Arc::new(store.clone()), "garden"))
        .await
        .unwrap();
    let outcome = water(&faulty).await.unwrap();
    // The tree, two waterings by rivals, and this one.
    assert_eq!(outcome.position.map(|id| id.get()), Some(3));
}

#[tokio::test(start_paused = true)]
async fn a_subject_that_never_holds_still_is_given_up() {
    let (faulty, store) = resources(Fault::Rival, u32::MAX);
    plant(&CommandResources::new(Arc::new(store), "garden"))
        .await
        .unwrap();
    let error = water(&faulty).await.unwrap_err();
    assert!(matches!(error, CommandError::Contended(_)), "{error}");
}
