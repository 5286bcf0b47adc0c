//! Finds the newest checkpoint of a reaction that can be read.

use futures_util::TryStreamExt as _;

use super::checkpoint::{CHECKPOINT_TYPE, ReactionCheckpoint};
use es_event::{EventId, RecordedEvent, Subject};
use es_store::{EventLog, Order, ReadOptions, StoreError};

/// The newest checkpoint on a subject, and the newest event there.
pub(super) struct StoredCheckpoint {
    /// The newest event, which need not be the checkpoint: anybody with the API token can write there.
    pub(super) last: Option<EventId>,
    pub(super) checkpoint: Option<ReactionCheckpoint>,
    /// True if there are events of the type of checkpoints, and none of them can be read. Without such an event,
    /// the reaction has never saved a checkpoint.
    pub(super) is_lost: bool,
}

impl StoredCheckpoint {
    /// Reads the subject from its end up to a checkpoint. An older checkpoint covers less, so the reaction may
    /// repeat work, but leaves out none.
    pub(super) async fn read_newest(
        store: &dyn EventLog,
        subject: &Subject,
    ) -> Result<Self, StoreError> {
        let newest_first = ReadOptions {
            order: Order::Antichronological,
            ..ReadOptions::default()
        };
        let mut events = store.read(subject.clone(), newest_first);
        let (mut last, mut is_lost) = (None, false);
        while let Some(event) = events.try_next().await? {
            last = last.or(Some(event.id));
            if let Some(checkpoint) = read_checkpoint(&event) {
                return Ok(Self {
                    last,
                    checkpoint: Some(checkpoint),
                    is_lost: false,
                });
            }
            is_lost |= event.event_type == CHECKPOINT_TYPE;
            tracing::warn!(event = %event.id, %subject, "an event on the subject of a reaction's checkpoints is no checkpoint: the one before it counts");
        }
        Ok(Self {
            last,
            checkpoint: None,
            is_lost,
        })
    }
}

/// Returns the checkpoint in an event, unless it contradicts the event store.
fn read_checkpoint(event: &RecordedEvent) -> Option<ReactionCheckpoint> {
    if event.event_type != CHECKPOINT_TYPE {
        return None;
    }
    let checkpoint: Option<ReactionCheckpoint> = event.payload().ok();
    checkpoint.filter(|checkpoint| checkpoint.is_before(event.id))
}
