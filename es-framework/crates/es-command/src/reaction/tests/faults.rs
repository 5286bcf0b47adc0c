//! Tests that calls are made once although the connection breaks during each checkpoint.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;

use super::{
    super::{ReactionDescriptor, ReactionRunner, Reactions},
    claims::{LetterWriter, each_once, world},
};
use es_event::{EventCandidate, RecordedEvent, Subject};
use es_store::{
    AppendError, EventStore, EventStream, ObserveOptions, Precondition, ReadOptions, StoreError,
    memory::MemoryStore,
};

const LETTERS: usize = 40;

/// A store whose connection breaks before every third write, and after every third one.
#[derive(Debug)]
struct BreakingStore {
    inner: MemoryStore,
    writes: Arc<AtomicUsize>,
}

#[async_trait]
impl EventStore for BreakingStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        let number = self.writes.fetch_add(1, Ordering::Relaxed) % 3;
        if number > 0 {
            let written = self.inner.append(candidates, preconditions).await?;
            if number == 1 {
                return Ok(written);
            }
        }
        let (address, reason) = ("memory".into(), "it broke".into());
        Err(AppendError::Unknown { address, reason })
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        self.inner.read(subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.inner.observe(subject, options)
    }

    async fn health(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn description(&self) -> String {
        "breaking".into()
    }
}

#[tokio::test(start_paused = true)]
async fn calls_are_made_once_though_nobody_knows_what_was_written() {
    let (world, post) = world(super::DUE, None);
    let writes = Arc::new(AtomicUsize::new(0));
    let running: Vec<_> = (0..2)
        .map(|_| {
            let mut runtime = world.runtime();
            runtime.store = Arc::new(BreakingStore {
                inner: world.store.clone(),
                writes: Arc::clone(&writes),
            });
            let reactions = Reactions::new([ReactionDescriptor::of::<LetterWriter>()]).unwrap();
            tokio::spawn(ReactionRunner::new(runtime, reactions).run())
        })
        .collect();
    for id in 0..LETTERS / 2 {
        world.send(&id.to_string()).await;
    }
    // Time passes only while all of them wait.
    tokio::time::sleep(Duration::from_secs(600)).await;
    each_once(&world, &post, LETTERS, || {
        running.iter().for_each(tokio::task::JoinHandle::abort);
    })
    .await;
    assert!(writes.load(Ordering::Relaxed) > LETTERS);
}
