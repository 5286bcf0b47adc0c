//! The parts of writing that every SQL event store shares: the write queue, the delay of group
//! commit, and the preparation of a batch. An adapter adds its statements.

mod admission;
mod batch;
mod linger;
mod queue;

pub use admission::{AdmissionLimits, WriteAdmission};
pub use batch::{ChainHead, PreparedBatch, StoredEventLookup, WRITER_STEPS};
pub use linger::CommitLinger;
pub use queue::{
    AbandonQueueOnDrop, AppendOutcome, BatchLimits, QueueOutcome, QueuedAppend, QueuedTask,
    SchemaRegistration, WriteQueue, candidate_size, precondition_size,
};
