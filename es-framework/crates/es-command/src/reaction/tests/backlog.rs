//! A subject whose events wait for many calls.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures_util::StreamExt as _;

use super::{
    claims::{LetterWriter, world},
    *,
};
use es_event::RecordedEvent;
use es_store::{AppendError, EventStream, ObserveOptions, Precondition};

/// A store that counts the events of an invoice that are read.
#[derive(Debug)]
struct CountingStore {
    inner: MemoryStore,
    read: Arc<AtomicUsize>,
}

#[async_trait]
impl EventLog for CountingStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        self.inner.append(candidates, preconditions).await
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        let is_invoice = subject.as_str().starts_with("/invoices/");
        let events = self.inner.read(subject, options);
        let read = Arc::clone(&self.read);
        let count = move |_: &_| {
            read.fetch_add(usize::from(is_invoice), Ordering::Relaxed);
        };
        events.inspect(count).boxed()
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.inner.observe(subject, options)
    }
}

#[tokio::test(start_paused = true)]
async fn the_events_behind_the_calls_of_a_held_subject_are_read_a_few_times_each() {
    const EVENTS: usize = 400;
    let (world, post) = world(DUE, None);
    for _ in 0..EVENTS {
        world.send("a").await;
    }
    let mut runtime = world.runtime();
    let read = Arc::new(AtomicUsize::new(0));
    runtime.store = Arc::new(CountingStore {
        inner: world.store.clone(),
        read: Arc::clone(&read),
    });
    let reactions = Reactions::new([ReactionDescriptor::of::<LetterWriter>()]).unwrap();
    let running = tokio::spawn(ReactionRunner::new(runtime, reactions).run());
    eventually(async || post.sent() == 2 * EVENTS).await;
    running.abort();
    let read = read.load(Ordering::Relaxed);
    assert!((EVENTS..10 * EVENTS).contains(&read), "{read}");
}
