//! The engine with a subscriber that records the events which it handles.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use es_event::{EventCandidate, EventSelection, EventType, Metadata, RecordedEvent};
use es_store::memory::MemoryStore;

use super::*;
use crate::{
    CommandedSubscriber, answer_during,
    operator::{ComponentKind, OperatorClient, OperatorCommand, OperatorError},
};

const NAME: &str = "Recorder";

/// Records events. Odd events fail as often as it is told, and it ends at an event.
struct Recorder {
    progress: SubscriberProgress,
    handled: Mutex<Vec<u64>>,
    failures_left: Mutex<u32>,
    parks: bool,
    skipped: Mutex<BTreeSet<u64>>,
    last: u64,
}

impl Recorder {
    fn new(last: u64) -> Self {
        Self {
            progress: SubscriberProgress::new(ComponentKind::Reaction, NAME),
            handled: Mutex::default(),
            failures_left: Mutex::default(),
            parks: false,
            skipped: Mutex::default(),
            last,
        }
    }

    fn handled(&self) -> Vec<u64> {
        self.handled.lock().unwrap().clone()
    }

    fn fails(&self, event: &RecordedEvent) -> bool {
        let mut left = self.failures_left.lock().unwrap();
        let fails = event.id.get() % 2 == 1 && *left > 0;
        *left -= u32::from(fails);
        fails
    }
}

#[async_trait]
impl Subscriber for Recorder {
    type Batch = Vec<RecordedEvent>;
    type End = ();

    const BATCH: usize = 3;

    fn running(&self) -> Vec<SubscriberProgress> {
        vec![self.progress.clone()]
    }

    async fn begin(&self) -> Result<(), Interruption<()>> {
        Ok(())
    }

    fn prepare(&self, events: Vec<RecordedEvent>) -> Vec<RecordedEvent> {
        events
    }

    async fn handle(&self, events: Vec<RecordedEvent>) -> Result<(), Interruption<()>> {
        for event in events {
            let is_skipped = self.skipped.lock().unwrap().contains(&event.id.get());
            if !is_skipped && self.fails(&event) {
                let poison = PoisonEvent::new(&event, "odd");
                if self.parks {
                    return Err(Interruption::Parked(poison));
                }
                return Err(Interruption::Failed(SubscriberFailure {
                    is_transient: true,
                    ..poison.into()
                }));
            }
            if !is_skipped {
                self.handled.lock().unwrap().push(event.id.get());
            }
            self.progress.record_position(Some(event.id));
        }
        Ok(())
    }

    async fn pass_unreadable(&self, poison: &PoisonEvent) -> Result<(), Interruption<()>> {
        Err(Interruption::Parked(poison.clone()))
    }

    fn end(&self) -> Option<()> {
        (self.progress.position() >= EventId::new(self.last)).then_some(())
    }
}

#[async_trait]
impl CommandedSubscriber for Recorder {
    fn progress(&self) -> &SubscriberProgress {
        &self.progress
    }

    async fn rebuild(&self) -> Result<(), OperatorError> {
        Err(OperatorError::CannotRebuild(NAME))
    }

    async fn skip(&self, selection: &EventSelection) -> Result<(), OperatorError> {
        if let Some((from, _)) = selection.ids() {
            self.skipped.lock().unwrap().insert(from.get());
        }
        Ok(())
    }

    async fn end_skips(&self, _: &EventSelection) -> Result<bool, OperatorError> {
        Ok(false)
    }

    async fn retry_held_keys(
        &self,
        _: Option<&EventSelection>,
    ) -> Result<(usize, usize), OperatorError> {
        Ok((0, 0))
    }
}

async fn store_with(events: usize) -> MemoryStore {
    let store = MemoryStore::new();
    let candidate = EventCandidate {
        source: "tests".into(),
        subject: "/trees/1".parse().unwrap(),
        event_type: EventType::declared("com.example.garden.TreeWateredEvent"),
        data: es_event::encode(&Metadata::default(), &1).unwrap(),
        trace: None,
    };
    store.append(vec![candidate; events], vec![]).await.unwrap();
    store
}

#[tokio::test(start_paused = true)]
async fn events_are_handled_in_order_and_not_again_after_failures() {
    let store = store_with(8).await;
    let recorder = Recorder::new(7);
    *recorder.failures_left.lock().unwrap() = 5;
    let end = follow(&recorder, &store, &CancellationToken::new()).await;
    assert_eq!(end, Some(()));
    assert_eq!(recorder.handled(), (0..8).collect::<Vec<_>>());
    assert!(recorder.progress.state().trouble().is_none());
}

#[tokio::test(start_paused = true)]
async fn the_pauses_between_attempts_double_until_an_event_is_handled() {
    let store = store_with(2).await;
    let recorder = Recorder::new(1);
    *recorder.failures_left.lock().unwrap() = 8;
    let begin = tokio::time::Instant::now();
    follow(&recorder, &store, &CancellationToken::new()).await;
    // The first failure follows an event that was handled, so it does not count as the second attempt.
    let pauses = [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000];
    let expected = Duration::from_millis(pauses.iter().sum());
    let waited = begin.elapsed();
    assert!(
        waited >= expected && waited < expected + Duration::from_secs(1),
        "{waited:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_parked_subscriber_goes_on_after_a_command_of_an_operator() {
    for command in [OperatorCommand::Retry, OperatorCommand::Skip] {
        let store = store_with(4).await;
        let mut recorder = Recorder::new(3);
        recorder.parks = true;
        *recorder.failures_left.lock().unwrap() = 1;
        let names = std::iter::once(NAME);
        let (client, mut requests) =
            OperatorClient::with_shared_queue(ComponentKind::Reaction, names);
        let progress = recorder.progress.clone();
        let operator = async {
            while !progress.is_stopped() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert_eq!(progress.position(), EventId::new(0));
            let outcome = client.send_command(NAME, command).await.unwrap();
            outcome.event.unwrap().id
        };
        let stop = CancellationToken::new();
        let following = follow(&recorder, &store, &stop);
        let following = answer_during(&recorder, &mut requests, following);
        let (end, event) = tokio::join!(following, operator);
        assert_eq!((end, event.get()), (Some(()), 1));
        let all: &[u64] = match command {
            OperatorCommand::Skip => &[0, 2, 3],
            _ => &[0, 1, 2, 3],
        };
        assert_eq!(recorder.handled(), all);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_token_ends_the_subscription_and_a_pause() {
    let store = store_with(2).await;
    for failures in [0, u32::MAX] {
        let recorder = Arc::new(Recorder::new(9));
        *recorder.failures_left.lock().unwrap() = failures;
        let stop = CancellationToken::new();
        let following = follow(&*recorder, &store, &stop);
        let stopping = async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            stop.cancel();
        };
        let (end, ()) = tokio::join!(following, stopping);
        assert_eq!(end, None);
        assert_eq!(recorder.progress.state().trouble().is_some(), failures > 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_over_once_the_subscription_lives_for_some_time() {
    let store = store_with(0).await;
    let recorder = Recorder::new(9);
    let failure = SubscriberFailure::new(crate::TroubleCause::EventStore, true, "away");
    recorder.progress.record_failure(failure);
    let stop = CancellationToken::new();
    let following = follow(&recorder, &store, &stop);
    let working = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(recorder.progress.state().name(), "retrying");
        tokio::time::sleep(Duration::from_secs(2)).await;
    };
    tokio::select! {
        end = following => panic!("{end:?}"),
        () = working => {}
    }
    assert_eq!(recorder.progress.state().name(), "working");
    assert!(recorder.progress.has_caught_up());
}
