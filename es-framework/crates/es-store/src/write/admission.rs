//! The admission of tasks to the write queue, within the memory that waiting events may take.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, oneshot},
    time::timeout,
};

use super::queue::{QueuedTask, SchemaRegistration, WriteQueue};
use crate::{EventSchema, RegisterError, StoreError};
use es_event::EventType;

/// The largest append, in bytes. It has to fit into memory and into one transaction.
const MAX_APPEND_BYTES: usize = 64 << 20;

/// Admits tasks to the write queue of a store.
#[derive(Debug)]
pub struct WriteAdmission {
    queue: Arc<WriteQueue>,
    room: Arc<Semaphore>,
    /// Permits one registration of a schema at a time, because each reads all events of its type.
    registering: Semaphore,
    limits: AdmissionLimits,
    address: String,
}

/// The limits of the tasks that wait.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionLimits {
    /// The size of the queue, in KiB. Each append counts as one at least.
    pub kib: u32,
    /// The time that an append waits for room in the queue, or a registration for the one before it.
    pub wait: Duration,
}

impl WriteAdmission {
    /// Creates the admission to a queue. Errors name the address of the store.
    pub fn new(queue: Arc<WriteQueue>, limits: AdmissionLimits, address: String) -> Self {
        let room = usize::try_from(limits.kib).unwrap_or(Semaphore::MAX_PERMITS);
        Self {
            queue,
            room: Arc::new(Semaphore::new(room)),
            registering: Semaphore::new(1),
            limits,
            address,
        }
    }

    /// Waits for room in the queue for an append of this size.
    pub async fn reserve_queue_space(
        &self,
        bytes: usize,
    ) -> Result<OwnedSemaphorePermit, StoreError> {
        if bytes > MAX_APPEND_BYTES {
            let mib = MAX_APPEND_BYTES >> 20;
            let reason = format!("the events of one append are larger than {mib} MiB together");
            return Err(StoreError::Refused(reason));
        }
        let kib = u32::try_from(bytes >> 10).unwrap_or(u32::MAX);
        let permits = kib.saturating_add(1).min(self.limits.kib);
        let room = Arc::clone(&self.room).acquire_many_owned(permits);
        match timeout(self.limits.wait, room).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) => Err(self.unavailable("it was closed")),
            Err(_) => Err(self.unavailable("it is overloaded: too many events wait to be written")),
        }
    }

    /// Waits until no other registration checks its schema against the stored events.
    pub async fn reserve_registration(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        match timeout(self.limits.wait, self.registering.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => {
                Err(self.unavailable("another schema is checked against the stored events"))
            }
        }
    }

    /// Adds the registration of a schema to the queue. Returns the receiver of its outcome. The caller has
    /// checked the events before `unchecked`.
    pub fn push_schema(
        &self,
        event_type: EventType,
        schema: Arc<EventSchema>,
        unchecked: u64,
    ) -> Result<oneshot::Receiver<Result<(), RegisterError>>, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.push_task(QueuedTask::Register(SchemaRegistration {
            event_type,
            schema,
            unchecked,
            answer,
        }))?;
        Ok(answered)
    }

    /// Adds a task to the queue.
    pub fn push_task(&self, task: QueuedTask) -> Result<(), StoreError> {
        self.queue
            .push(task)
            .map_err(|_| self.unavailable("it was closed"))
    }

    /// From now on, rejects further tasks. The writer still executes those in the queue.
    pub fn close(&self) {
        self.queue.close();
    }

    /// Returns the error of a store that does not answer.
    pub fn unavailable(&self, reason: &str) -> StoreError {
        StoreError::Unavailable {
            address: self.address.clone(),
            reason: reason.to_owned(),
        }
    }

    /// Returns the room that is left, in KiB.
    pub fn free_kib(&self) -> usize {
        self.room.available_permits()
    }
}
