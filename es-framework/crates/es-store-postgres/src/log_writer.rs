//! The writer thread: it takes all waiting appends, writes them in one transaction, and answers. Appends
//! that arrive while another instance writes join the transaction that waits for it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{runtime::Runtime, sync::oneshot, time::timeout};

use super::{
    batch_transaction::{BatchTransaction, PreparedEvents},
    damage_record,
    database_error::DatabaseError,
    log_head, schema_registration,
    seen_event::SeenEvent,
    server_connection::WritableConnection,
    store_state::StoreState,
};
use es_sql::postgres::{Remedy, RetrySchedule};
use es_store::{
    RegisterError, SchemaConflict, StoreError, measure,
    write::{
        AbandonQueueOnDrop, CommitLinger, QueueOutcome, QueuedAppend, QueuedTask,
        SchemaRegistration, WriteQueue,
    },
};

/// The channel on which instances tell each other that there are new events.
pub(super) const CHANNEL: &str = "es_events";

/// The time without tasks after which the thread looks at the queue again.
const IDLE: Duration = Duration::from_secs(60);

/// The answer to a health check.
type ProbeAnswer = oneshot::Sender<Result<(), StoreError>>;

/// The writer and the state that only it uses.
#[derive(Debug)]
pub(super) struct LogWriter {
    connection: Option<WritableConnection>,
    linger: CommitLinger,
    queue: Arc<WriteQueue>,
    state: Arc<StoreState>,
    /// False if the URL turns notifications off or the server has none.
    notifies: bool,
}

impl LogWriter {
    pub(super) fn new(state: Arc<StoreState>, queue: Arc<WriteQueue>) -> Self {
        Self {
            connection: None,
            linger: CommitLinger::default(),
            queue,
            notifies: state.address.uses_notifications,
            state,
        }
    }

    /// Runs until the queue is closed and empty. The runtime belongs to this thread alone, which
    /// blocks while the queue is empty.
    pub(super) fn write_until_closed(mut self, runtime: &Runtime) {
        // No caller waits any longer, whatever ends this thread.
        let _guard = AbandonQueueOnDrop(Arc::clone(&self.queue));
        loop {
            // A bug in one batch does not end the store: its callers get an error.
            match catch_unwind(AssertUnwindSafe(|| self.run_once(runtime))) {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => self.connection = None,
            }
        }
        // The connection ends inside its runtime.
        let _context = runtime.enter();
        drop(self.connection.take());
    }

    /// Executes the next tasks. Returns `false` at the end.
    fn run_once(&mut self, runtime: &Runtime) -> bool {
        let limits = self.state.limits.batch;
        match self.queue.take(self.linger.target(), IDLE, limits) {
            QueueOutcome::Tasks(tasks) => {
                runtime.block_on(self.execute(tasks));
                true
            }
            QueueOutcome::Idle => true,
            QueueOutcome::Closed => false,
        }
    }

    async fn execute(&mut self, tasks: Vec<QueuedTask>) {
        let mut appends = Vec::with_capacity(tasks.len());
        let (mut registrations, mut probes) = (Vec::new(), Vec::new());
        for task in tasks {
            match task {
                // Nobody waits for an append whose time is over, so it is not written.
                QueuedTask::Append(append) if append.answer.is_closed() => {}
                QueuedTask::Append(append) => appends.push(append),
                QueuedTask::Register(registration) => registrations.push(registration),
                QueuedTask::Probe(answer) => probes.push(answer),
            }
        }
        let mut has_committed = false;
        if !appends.is_empty() {
            let queue = Arc::clone(&self.queue);
            let batch = BatchTransaction::with_queue(appends, queue);
            has_committed = self.write(batch).await;
        }
        for registration in registrations {
            let outcome = self.register(&registration).await;
            let _ = registration.answer.send(outcome);
        }
        self.answer_probes(probes, has_committed).await;
    }

    /// Writes a batch and answers each of its callers, whatever happens. Returns true if events were committed.
    async fn write(&mut self, mut batch: BatchTransaction) -> bool {
        let begun = Instant::now();
        let mut schedule = RetrySchedule::new(self.state.limits.retry_time);
        let error = loop {
            match self.attempt(&mut batch).await {
                Ok(prepared) => {
                    self.publish(&prepared);
                    let (time, appends) = (begun.elapsed(), batch.appends.len());
                    let events = prepared.events().count();
                    measure(|meter| meter.record_commit(time, events, appends));
                    let waiting = self.queue.waiting_tasks();
                    self.linger.record_commit(time, appends, waiting);
                    let has_events = prepared.events().next().is_some();
                    answer(batch.appends, prepared);
                    if has_events {
                        self.notify().await;
                    }
                    return has_events;
                }
                Err(error) => {
                    self.handle_failure(&error).await;
                    if !schedule.wait(error.remedy()).await {
                        break error.into_write_error();
                    }
                }
            }
        };
        if error.is_refusal() && batch.appends.len() > 1 {
            // Only the append at fault must fail.
            let mut has_committed = false;
            for append in batch.into_appends() {
                has_committed |= Box::pin(self.write(BatchTransaction::of_one(append))).await;
            }
            return has_committed;
        }
        tracing::error!(%error, "a batch of events was not written");
        let address = &self.state.description;
        let may_be_stored = batch.may_be_stored();
        for append in batch.appends {
            let _ = append.answer.send(Err(if may_be_stored {
                error.unknown_at(address)
            } else {
                error.to_store_error(address).into()
            }));
        }
        false
    }

    async fn attempt(
        &mut self,
        batch: &mut BatchTransaction,
    ) -> Result<PreparedEvents, DatabaseError> {
        let state = Arc::clone(&self.state);
        let found = self.connection().await?;
        let failover = state.await_failover(found.failovers);
        let attempt = batch.attempt(&mut found.connection, &state);
        tokio::select! {
            attempted = timeout(state.limits.attempt_time, attempt) => {
                attempted.unwrap_or(Err(DatabaseError::Timeout))
            }
            () = failover => Err(DatabaseError::Timeout),
        }
    }

    /// Returns the connection, or a new one to the server that accepts writes.
    async fn connection(&mut self) -> Result<&mut WritableConnection, DatabaseError> {
        let state = &self.state;
        let connection = self.connection.take();
        let connection =
            match connection.filter(|connection| state.is_connection_current(connection)) {
                Some(connection) => connection,
                None => state.connect_to_primary().await?,
            };
        Ok(self.connection.insert(connection))
    }

    /// Prepares the connection for the next transaction, or drops it.
    async fn handle_failure(&mut self, error: &DatabaseError) {
        if error.remedy() != Remedy::Reconnect
            && let Some(found) = &mut self.connection
        {
            let limit = self.state.limits.attempt_time;
            let connection = &mut found.connection;
            let roll_back = async {
                log_head::roll_back(connection).await?;
                match error {
                    DatabaseError::Damaged(damage) => {
                        damage_record::record_damage(connection, damage, false).await
                    }
                    _ => Ok(()),
                }
            };
            let rolled_back = timeout(limit, roll_back).await;
            if matches!(rolled_back, Ok(Ok(()))) {
                return;
            }
        }
        self.connection = None;
    }

    /// Makes the events of a batch visible to subscribers of this instance.
    fn publish(&self, prepared: &PreparedEvents) {
        let state = &self.state;
        if !prepared.new_types.is_empty() {
            state.modify_catalogue(|catalogue| {
                for (event_type, first) in &prepared.new_types {
                    catalogue.record_event(event_type, *first);
                }
            });
        }
        if let Some(last) = prepared.events().next_back().map(SeenEvent::of) {
            state.record_seen(last);
            state.publish(last.id.get().saturating_add(1));
        }
    }

    /// Wakes the subscribers of other instances. They also poll, so a failure only delays them.
    async fn notify(&mut self) {
        if !self.notifies {
            return;
        }
        let length = self.state.length().borrow().to_string();
        let Some(found) = &mut self.connection else {
            return;
        };
        let notify = sqlx::query("SELECT pg_notify($1, $2)")
            .bind(CHANNEL)
            .bind(length)
            .execute(&mut found.connection);
        match timeout(self.state.limits.attempt_time, notify).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                let error = DatabaseError::from(error);
                if error.remedy() == Remedy::GiveUp {
                    tracing::info!(%error, "the server has no notifications, so subscribers poll");
                    self.notifies = false;
                }
                self.handle_failure(&error).await;
            }
            Err(_) => self.connection = None,
        }
    }

    async fn register(&mut self, registration: &SchemaRegistration) -> Result<(), RegisterError> {
        let mut schedule = RetrySchedule::new(self.state.limits.retry_time);
        let mut is_sent = false;
        loop {
            let error = match self.try_register(registration, &mut is_sent).await {
                Ok(registered) => return Ok(registered?),
                Err(error) => error,
            };
            self.handle_failure(&error).await;
            if is_sent && error.remedy() != Remedy::Repeat {
                return Err(RegisterError::Unknown {
                    address: self.state.description.clone(),
                    reason: error.to_string(),
                });
            }
            is_sent = false;
            if !schedule.wait(error.remedy()).await {
                let error = error.into_write_error();
                return Err(error.to_store_error(&self.state.description).into());
            }
        }
    }

    async fn try_register(
        &mut self,
        registration: &SchemaRegistration,
        is_sent: &mut bool,
    ) -> Result<Result<(), SchemaConflict>, DatabaseError> {
        let limit = self.state.limits.attempt_time;
        let state = Arc::clone(&self.state);
        let connection = &mut self.connection().await?.connection;
        let register =
            schema_registration::register_schema(connection, &state, registration, is_sent);
        let registered = timeout(limit, register).await;
        registered.unwrap_or(Err(DatabaseError::Timeout))
    }

    /// Answers all health checks that wait by one commit: that of the last batch, or one that changes nothing.
    async fn answer_probes(&mut self, mut probes: Vec<ProbeAnswer>, has_committed: bool) {
        probes.retain(|probe| !probe.is_closed());
        if probes.is_empty() {
            return;
        }
        let probed = if has_committed {
            Ok(())
        } else {
            self.probe_writing().await
        };
        let address = &self.state.description;
        for probe in probes {
            let outcome = probed.as_ref().copied();
            let _ = probe.send(outcome.map_err(|error| error.to_store_error(address)));
        }
    }

    /// Commits a transaction that leaves the head row unchanged, which shows that the log can be written.
    async fn probe_writing(&mut self) -> Result<(), DatabaseError> {
        let limit = self.state.limits.health_time;
        let probe = async {
            let connection = &mut self.connection().await?.connection;
            let head = log_head::begin_and_lock(connection).await?;
            head.check_open()?;
            log_head::commit_unchanged_head(connection).await
        };
        let probed = timeout(limit, probe).await;
        let probed = probed.unwrap_or(Err(DatabaseError::Timeout));
        if let Err(error) = &probed {
            self.handle_failure(error).await;
        }
        probed.map_err(DatabaseError::into_write_error)
    }
}

/// Answers the callers of a batch.
fn answer(appends: Vec<QueuedAppend>, prepared: PreparedEvents) {
    for (append, outcome) in appends.into_iter().zip(prepared.outcomes) {
        drop(append.permit);
        let _ = append.answer.send(outcome);
    }
}
