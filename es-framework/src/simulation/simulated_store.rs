//! The event store of a simulation: the store in memory behind a network and a disk that misbehave.
//! A request may be slow, overtake another one, or fail before it is sent, while it waits for the
//! flush, or after it. A crash loses the appends that wait for the flush.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;
use tokio::sync::{Notify, oneshot};

use super::{
    defect::Defect,
    environment::{SimulationEnvironment, lock},
    simulated_subscription::SimulatedSubscription,
};
use crate::{
    event::{EventCandidate, RecordedEvent, Subject},
    store::{
        AppendError, EventLog, EventStream, ObserveOptions, Precondition, ReadOptions,
        StoreCatalog, StoreError, memory::MemoryStore,
    },
};

/// The time after which the sender of an append stops waiting.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

type AppendAnswer = Result<Vec<RecordedEvent>, AppendError>;

/// The one store of a run.
#[derive(Debug)]
pub(super) struct StoreServer {
    pub(super) environment: Arc<SimulationEnvironment>,
    pub(super) log: MemoryStore,
    /// For each event, the latest time that any clock had shown when it was recorded.
    latest_times: Mutex<Vec<Timestamp>>,
    unflushed: Mutex<Vec<UnflushedAppend>>,
    has_arrived: Notify,
    state: Mutex<StoreCrashState>,
    /// Wakes subscriptions in the order in which they wait, unlike the channel `watch` of tokio, which
    /// has an order of its own in each run.
    pub(super) has_changed: Notify,
}

/// Whether the store is down, and how often it has crashed.
#[derive(Debug, Clone, Copy, Default)]
struct StoreCrashState {
    crashes: u64,
    is_down: bool,
}

/// An append that the store has received and that is not durable yet.
#[derive(Debug)]
struct UnflushedAppend {
    sender: &'static str,
    candidates: Vec<EventCandidate>,
    preconditions: Vec<Precondition>,
    answer: oneshot::Sender<AppendAnswer>,
}

impl StoreServer {
    pub(super) fn new(environment: Arc<SimulationEnvironment>) -> Self {
        Self {
            environment,
            log: MemoryStore::new(),
            latest_times: Mutex::default(),
            unflushed: Mutex::default(),
            has_arrived: Notify::new(),
            state: Mutex::default(),
            has_changed: Notify::new(),
        }
    }

    /// Flushes appends until the returned future is dropped.
    pub(super) async fn flush_appends(self: Arc<Self>) {
        loop {
            self.has_arrived.notified().await;
            let environment = &self.environment;
            if environment.random_bool(environment.faults().slow_flush) {
                environment.sleep_randomly(20, 400).await
            } else {
                environment.sleep_randomly(1, 5).await
            }
            let mut batch = std::mem::take(&mut *lock(&self.unflushed));
            if environment.random_bool(environment.faults().reordered_batch) {
                batch.reverse();
            }
            for append in batch {
                let answer = append.answer;
                let recorded = self
                    .write(append.sender, append.candidates, append.preconditions)
                    .await;
                let _ = answer.send(recorded);
            }
        }
    }

    /// Stops the store, which loses unflushed appends and all answers, and starts it again.
    pub(super) async fn crash_and_restart(&self) {
        let mut batch = std::mem::take(&mut *lock(&self.unflushed));
        let durable = usize::try_from(self.environment.random_below(3)).unwrap_or_default();
        let lost = batch.split_off(durable.min(batch.len()));
        let crashes = self.crash_count() + 1;
        let is_down = true;
        *lock(&self.state) = StoreCrashState { crashes, is_down };
        let environment = &self.environment;
        let lost = lost.len();
        environment.record_trace(
            "store",
            format_args!("crashes and loses {lost} unflushed appends"),
        );
        for append in batch {
            let recorded = self.write(append.sender, append.candidates, append.preconditions);
            let _ = recorded.await;
        }
        self.has_changed.notify_waiters();
        environment.sleep_randomly(50, 2_500).await;
        self.ensure_running();
        environment.record_trace("store", "starts again");
    }

    /// Starts the store, if it is down.
    pub(super) fn ensure_running(&self) {
        lock(&self.state).is_down = false;
    }

    /// Returns the number of crashes.
    pub(super) fn crash_count(&self) -> u64 {
        lock(&self.state).crashes
    }

    /// Returns the number of events.
    pub(super) fn event_count(&self) -> u64 {
        u64::try_from(lock(&self.latest_times).len()).unwrap_or(u64::MAX)
    }

    /// Returns all events, each with the latest time that any clock had shown when it was recorded.
    pub(super) async fn history(&self) -> Vec<(RecordedEvent, Timestamp)> {
        let events = self.log.read(Subject::root(), ReadOptions::recursive());
        let events = events.filter_map(async |event| event.ok());
        let events: Vec<_> = events.collect().await;
        let times = lock(&self.latest_times).clone();
        events.into_iter().zip(times).collect()
    }

    async fn write(
        &self,
        sender: &str,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> AppendAnswer {
        let recorded = self.log.append(candidates, preconditions).await;
        match &recorded {
            Ok(events) => {
                let time = self.environment.latest_time();
                lock(&self.latest_times).extend(events.iter().map(|_| time));
                self.has_changed.notify_waiters();
                let events: Vec<_> = events.iter().map(described).collect();
                let events = events.join(", ");
                self.environment
                    .record_trace("store", format_args!("records {events} for {sender}"));
            }
            Err(error) => self
                .environment
                .record_trace("store", format_args!("refuses {sender}: {error}")),
        }
        recorded
    }

    fn receive(&self, append: UnflushedAppend) {
        if self.is_down() {
            let _ = append
                .answer
                .send(Err(unavailable_error("connection refused").into()));
            return;
        }
        lock(&self.unflushed).push(append);
        self.has_arrived.notify_one();
        if self.environment.defect == Some(Defect::ReadUnflushed) {
            self.has_changed.notify_waiters();
        }
    }

    /// Returns the events that wait for the flush.
    pub(super) fn unflushed_candidates(&self) -> Vec<EventCandidate> {
        let unflushed = lock(&self.unflushed);
        let events = unflushed.iter().flat_map(|append| &append.candidates);
        events.cloned().collect()
    }

    fn is_down(&self) -> bool {
        lock(&self.state).is_down
    }
}

/// Returns an event in a few words.
fn described(event: &RecordedEvent) -> String {
    let name = event
        .event_type
        .as_str()
        .rsplit('.')
        .next()
        .unwrap_or_default();
    let subject: String = event.subject.as_str().chars().take(48).collect();
    format!("{} {name} on {subject}", event.id)
}

pub(super) fn unavailable_error(reason: &str) -> StoreError {
    StoreError::Unavailable {
        address: "of the simulation".to_owned(),
        reason: reason.to_owned(),
    }
}

/// The connection of one instance to the store.
#[derive(Debug, Clone)]
pub(super) struct StoreConnection {
    pub(super) server: Arc<StoreServer>,
    pub(super) instance: &'static str,
    /// The number of the process whose reactions use this connection.
    pub(super) reactions_of: Option<u64>,
}

impl StoreConnection {
    fn unknown(&self, reason: &str) -> AppendError {
        let instance = self.instance;
        let environment = &self.server.environment;
        environment.record_trace(
            instance,
            format_args!("does not know whether its append is recorded: {reason}"),
        );
        AppendError::Unknown {
            address: "of the simulation".to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// Waits until the request of a read has arrived.
    pub(super) async fn begin_read(&self) -> Result<(), StoreError> {
        let environment = &self.server.environment;
        environment.simulate_network_delay().await;
        if self.server.is_down() {
            return Err(unavailable_error("connection refused"));
        }
        if environment.random_bool(environment.faults().failed_read) {
            Err(unavailable_error("the request failed"))
        } else {
            Ok(())
        }
    }

    /// Reads the events of one moment. A fault cuts them off.
    async fn read_at_once(
        self,
        subject: Subject,
        options: ReadOptions,
    ) -> Vec<Result<RecordedEvent, StoreError>> {
        if let Err(error) = self.begin_read().await {
            return vec![Err(error)];
        }
        if self.hides_events(&subject, &options) {
            return Vec::new();
        }
        let mut events = self.read_log(self.stored_subject(subject), options).await;
        let environment = &self.server.environment;
        if environment.random_bool(environment.faults().torn_read) {
            let length = u64::try_from(events.len()).unwrap_or_default();
            events.truncate(
                usize::try_from(environment.random_below(length + 1)).unwrap_or_default(),
            );
            events.push(Err(unavailable_error("the connection broke during a read")));
        }
        environment.simulate_network_delay().await;
        events
    }
}

#[async_trait]
impl EventLog for StoreConnection {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> AppendAnswer {
        let environment = &self.server.environment;
        if environment.random_bool(environment.faults().failed_append) {
            return Err(unavailable_error("the request failed").into());
        }
        let sent = candidates.clone();
        let preconditions = self.checked_preconditions(&candidates, preconditions);
        let recorded = candidates.into_iter().filter(|one| self.is_recorded(one));
        let candidates = recorded.map(|candidate| EventCandidate {
            subject: self.stored_subject(candidate.subject),
            ..candidate
        });
        let (answer, answered) = oneshot::channel();
        let append = UnflushedAppend {
            sender: self.instance,
            candidates: candidates.collect(),
            preconditions,
            answer,
        };
        let server = Arc::clone(&self.server);
        // The network delivers the request even if the sender is gone.
        tokio::spawn(async move {
            server.environment.simulate_network_delay().await;
            server.receive(append);
        });
        let unknown = match tokio::time::timeout(ANSWER_TIMEOUT, answered).await {
            Ok(Ok(answer)) => {
                environment.simulate_network_delay().await;
                if !environment.random_bool(environment.faults().lost_answer) {
                    return answer;
                }
                self.unknown("the answer was lost")
            }
            Ok(Err(_)) => self.unknown("the store crashed"),
            Err(_) => self.unknown("no answer in time"),
        };
        if self.has(Defect::TrustUnknownAppends) && self.reactions_of.is_none() {
            return MemoryStore::new().append(sent, Vec::new()).await;
        }
        Err(unknown)
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        let read = self.clone().read_at_once(subject, options);
        stream::once(read).map(stream::iter).flatten().boxed()
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        let subscription = SimulatedSubscription::new(self.clone(), subject, options);
        stream::unfold(subscription, |mut subscription| async {
            let event = subscription.next_event().await;
            Some((event, subscription))
        })
        .boxed()
    }
}

#[async_trait]
impl StoreCatalog for StoreConnection {
    async fn health(&self) -> Result<(), StoreError> {
        self.begin_read().await
    }

    fn description(&self) -> String {
        "simulated".to_owned()
    }
}
