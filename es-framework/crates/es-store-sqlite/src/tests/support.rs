//! Test support of this adapter.

use std::{path::Path, time::Duration};

use serde_json::value::RawValue;

use crate::{
    EmbeddedStore,
    recent::RecentLimits,
    store_settings::{ChunkLimits, EngineSettings},
};
use es_event::{EventCandidate, Hash, RecordedEvent};
use es_store::{AppendError, EventLog as _, Precondition};

/// Limits so small that a few events reach each of them. No timer starts a compaction.
pub(super) fn tiny() -> EngineSettings {
    EngineSettings {
        memtable_entries: 12,
        compaction_factor: 1,
        recent: RecentLimits {
            events: 4,
            bytes: 2 << 10,
        },
        batch_events: 3,
        idle: Duration::from_secs(3_600),
        lock_wait: Duration::from_millis(200),
        readers: 2,
        subjects: 2,
        chunk: ChunkLimits {
            events: 3,
            bytes: 100,
            frame: 600,
        },
        ..EngineSettings::default()
    }
}

pub(super) fn candidate(subject: &str, number: usize) -> EventCandidate {
    EventCandidate {
        source: "tests".into(),
        subject: subject.parse().unwrap(),
        event_type: "io.example.Happened".parse().unwrap(),
        data: RawValue::from_string(format!("{{\"number\":{number}}}")).unwrap(),
        trace: None,
    }
}

pub(super) fn pristine(subject: &str) -> Precondition {
    Precondition::SubjectIsPristine(subject.parse().unwrap())
}

/// Appends one event to each subject, one append each.
pub(super) async fn append(
    store: &EmbeddedStore,
    subjects: &[&str],
) -> Result<Vec<RecordedEvent>, AppendError> {
    let candidates = subjects
        .iter()
        .map(|subject| candidate(subject, 0))
        .collect();
    store.append(candidates, vec![]).await
}

pub(super) fn assert_chain(events: &[RecordedEvent]) {
    let mut predecessor = Hash::ZERO;
    for (number, event) in (0..).zip(events) {
        assert_eq!(event.id.get(), number);
        assert_eq!(event.verify(predecessor), Ok(()));
        predecessor = event.hash;
    }
}

pub(super) async fn eventually(condition: impl Fn() -> bool) {
    for _ in 0..5_000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("it never came true");
}

/// Copies the files in their current state, as a crash would leave them.
pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for name in ["events.sqlite", "events.sqlite-wal"] {
        let file = from.join(name);
        if file.exists() {
            std::fs::copy(file, to.join(name)).unwrap();
        }
    }
}
