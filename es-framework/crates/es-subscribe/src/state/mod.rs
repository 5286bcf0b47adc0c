//! The state database: what has to survive and cannot be rebuilt from the events. These are the positions of
//! subscribers, their open tasks, and the choices of operators.
//!
//! One process owns the database at a time and does the work. The others stand by.

mod changes;
mod error;
mod identity;
mod queries;
mod rows;
mod skips;
mod tables;
mod task;
#[cfg(test)]
mod tests;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use es_event::{EventId, Hash};
use es_sql::{Cell, DatabaseUrl, DatabaseUse, QueryCost, SqlDatabase, Statement};
use tokio::sync::OnceCell;

use self::{
    changes::ChangeStatements,
    rows::{RowReader, event_cell},
    tables::{DatabaseIdentity, open_tables, read_identity},
};

pub use error::StateError;
pub use identity::check_position;
pub use task::{NextTimes, Task, TaskChange, TaskCounts, TaskFailure, TaskKey};

/// The longest time of a query for the status.
const QUERY_TIME: Duration = Duration::from_secs(5);
/// The most bytes of rows that a query for the status reads.
const MOST_BYTES: usize = 16 << 20;

/// The database of the tasks of all reactions. Clones are one instance: they own it together.
///
/// ```
/// use es_subscribe::state::{StateDatabase, TaskCounts};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_subscribe::state::StateError> {
/// let database = StateDatabase::in_memory();
/// assert!(database.try_own().await?.is_some());
/// // Another process stands by, and sees the tasks.
/// let other = database.another_instance();
/// assert!(other.try_own().await?.is_none());
/// assert_eq!(other.task_counts("receipts").await?, TaskCounts::default());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct StateDatabase {
    instance: Arc<Instance>,
}

/// The use of a database by one process, or by one simulated process.
#[derive(Debug)]
struct Instance {
    number: u64,
    shared: Arc<SharedDatabase>,
    ownership: Mutex<Option<Ownership>>,
}

/// The ownership of the database, until it is given up or lost.
#[derive(Debug)]
struct Ownership {
    identity: DatabaseIdentity,
    /// Tells this ownership from earlier ones of the process.
    term: u64,
    /// True if the events name this run of the database.
    is_announced: bool,
}

/// A database that the instances of one process share.
#[derive(Debug)]
struct SharedDatabase {
    url: DatabaseUrl,
    sql: OnceCell<SqlDatabase>,
    /// The number of the instance of this process that owns the database or asks for it.
    owner: Mutex<Option<u64>>,
}

/// The last event whose tasks are planned.
///
/// ```
/// use es_event::RecordedEvent;
/// use es_subscribe::state::SubscriberCheckpoint;
///
/// fn checkpoint_at(event: &RecordedEvent) -> SubscriberCheckpoint {
///     SubscriberCheckpoint { event: event.id, hash: event.hash }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriberCheckpoint {
    /// The event.
    pub event: EventId,
    /// Its hash, by which another store is noticed.
    pub hash: Hash,
}

/// The position of a subscriber.
///
/// ```
/// use es_subscribe::state::{StateDatabase, SubscriberPosition};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_subscribe::state::StateError> {
/// let database = StateDatabase::in_memory();
/// assert!(database.try_own().await?.is_some());
/// assert_eq!(database.position("receipts").await?, SubscriberPosition::Unknown);
/// database.begin("receipts", None, &[]).await?;
/// assert_eq!(database.position("receipts").await?, SubscriberPosition::BeforeFirst);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriberPosition {
    /// The database does not know the subscriber.
    Unknown,
    /// The subscriber has planned no tasks yet.
    BeforeFirst,
    /// The subscriber has planned the tasks up to an event.
    At(SubscriberCheckpoint),
}

impl StateDatabase {
    /// Opens the database, and creates it if it does not exist.
    ///
    /// # Errors
    /// It cannot be opened or reached.
    pub async fn open(url: DatabaseUrl) -> Result<Self, StateError> {
        let database = Self::new(url);
        database.instance.shared.connect().await?;
        Ok(database)
    }

    /// Returns a database in memory.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(DatabaseUrl::Memory)
    }

    fn new(url: DatabaseUrl) -> Self {
        Self::new_instance(Arc::new(SharedDatabase {
            url,
            sql: OnceCell::new(),
            owner: Mutex::default(),
        }))
    }

    fn new_instance(shared: Arc<SharedDatabase>) -> Self {
        let instance = Instance {
            number: next_number(),
            shared,
            ownership: Mutex::default(),
        };
        Self {
            instance: Arc::new(instance),
        }
    }

    /// Returns another instance of the database, which asks for its ownership like another process.
    #[must_use]
    pub fn another_instance(&self) -> Self {
        Self::new_instance(Arc::clone(&self.instance.shared))
    }

    fn ownership(&self) -> MutexGuard<'_, Option<Ownership>> {
        let ownership = &self.instance.ownership;
        ownership.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if this instance owns the database, as far as it knows.
    #[must_use]
    pub fn is_owner(&self) -> bool {
        self.ownership().is_some()
    }

    /// Asks for the ownership of the database, unless another instance has it. Returns the number of the ownership, which
    /// stays the same until it is given up or lost. An owner asks again from time to time, to learn whether it is lost.
    ///
    /// # Errors
    /// The database does not answer, or it belongs to a later release.
    pub async fn try_own(&self) -> Result<Option<u64>, StateError> {
        if let Some(term) = self.confirm_ownership().await? {
            return Ok(Some(term));
        }
        if !self.instance.reserve() {
            return Ok(None);
        }
        let acquired = self.acquire().await;
        if !matches!(acquired, Ok(Some(_))) {
            self.instance.free();
        }
        acquired
    }

    /// Returns the number of the ownership if this instance still has it.
    async fn confirm_ownership(&self) -> Result<Option<u64>, StateError> {
        if !self.is_owner() {
            return Ok(None);
        }
        let database = self.instance.shared.connect().await?;
        let stored = self.notice_loss(read_identity(database).await);
        match stored {
            Ok(stored) => {
                let ownership = self.ownership();
                let own = ownership.as_ref().filter(|own| own.identity == stored);
                let term = own.map(|own| own.term);
                drop(ownership);
                if term.is_none() {
                    self.forget_ownership();
                }
                Ok(term)
            }
            Err(error) if error.is_ownership_lost() => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn acquire(&self) -> Result<Option<u64>, StateError> {
        let database = self.instance.shared.connect().await?;
        if !database.try_become_writer().await? {
            return Ok(None);
        }
        let (identity, term) = (open_tables(database).await?, next_number());
        *self.ownership() = Some(Ownership {
            identity,
            term,
            is_announced: false,
        });
        Ok(Some(term))
    }

    /// Gives up the ownership, so that another instance can take over at once.
    pub async fn release(&self) {
        if self.ownership().take().is_some() {
            if let Some(database) = self.instance.shared.sql.get() {
                database.release_writer().await;
            }
            self.instance.free();
        }
    }

    fn identity(&self) -> Result<DatabaseIdentity, StateError> {
        let ownership = self.ownership();
        let own = ownership.as_ref().ok_or(StateError::NotOwner)?;
        Ok(own.identity.clone())
    }

    fn is_announced(&self) -> Result<bool, StateError> {
        let ownership = self.ownership();
        let own = ownership.as_ref().ok_or(StateError::NotOwner)?;
        Ok(own.is_announced)
    }

    fn change_ownership(&self, change: impl FnOnce(&mut Ownership)) {
        if let Some(own) = self.ownership().as_mut() {
            change(own);
        }
    }

    fn forget_ownership(&self) {
        *self.ownership() = None;
        self.instance.free();
    }

    /// Selects rows, which no other process changes until this one writes.
    async fn read(&self, statement: Statement) -> Result<Vec<Vec<Cell>>, StateError> {
        let result = self.owned()?.read(statement).await;
        self.notice_loss(result.map_err(Into::into))
    }

    /// Selects rows. To an instance that does not own the database, they are those of the last transaction.
    async fn select(
        &self,
        sql: String,
        parameters: Vec<Cell>,
    ) -> Result<Vec<Vec<Cell>>, StateError> {
        if self.is_owner() {
            return self.read(Statement::new(sql, parameters)).await;
        }
        let database = self.instance.shared.connect().await?;
        match database
            .query(QueryCost::Page, sql, parameters, MOST_BYTES)
            .await
        {
            Ok(fetched) => Ok(fetched.rows),
            // No instance has owned the database yet.
            Err(error) if error.is_missing_table() => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs statements in one transaction.
    async fn write(&self, statements: Vec<Statement>) -> Result<(), StateError> {
        let result = self.owned()?.write(statements).await;
        self.notice_loss(result.map_err(Into::into))
    }

    /// Returns the database, which this instance owns.
    fn owned(&self) -> Result<&SqlDatabase, StateError> {
        let database = self.instance.shared.sql.get();
        database
            .filter(|_| self.is_owner())
            .ok_or(StateError::NotOwner)
    }

    fn notice_loss<T>(&self, result: Result<T, StateError>) -> Result<T, StateError> {
        if result.as_ref().is_err_and(StateError::is_ownership_lost) {
            self.forget_ownership();
        }
        result
    }

    /// Returns the position of a subscriber.
    ///
    /// # Errors
    /// The database does not answer, or the tasks of the subscriber were lost.
    pub async fn position(&self, subscriber: &str) -> Result<SubscriberPosition, StateError> {
        let sql = "SELECT is_lost, position, hash FROM es_subscriber WHERE name = $1";
        let rows = self.select(sql.into(), vec![subscriber.into()]).await?;
        let Some(row) = rows.into_iter().next() else {
            return Ok(SubscriberPosition::Unknown);
        };
        let mut row = RowReader::new("es_subscriber", row);
        if row.integer()? != 0 {
            return Err(StateError::TasksLost(subscriber.to_owned()));
        }
        let Some(event) = row.optional_event()? else {
            return Ok(SubscriberPosition::BeforeFirst);
        };
        let hash = row.parsed()?;
        Ok(SubscriberPosition::At(SubscriberCheckpoint { event, hash }))
    }

    /// Changes the tasks of a subscriber, and its position if there is one, in one transaction.
    ///
    /// # Errors
    /// The database does not answer, or this process does not own it. Then nothing has changed, or the connection broke
    /// before the answer.
    pub async fn commit(
        &self,
        subscriber: &str,
        position: Option<SubscriberCheckpoint>,
        changes: &[TaskChange],
    ) -> Result<(), StateError> {
        let mut statements = ChangeStatements::new(subscriber);
        for change in changes {
            statements.push_change(change);
        }
        if let Some(checkpoint) = position {
            statements.push_statement(SAVE_POSITION, position_cells(Some(checkpoint)));
        }
        self.write(statements.into_statements()).await
    }

    /// Lets a subscriber begin after an event, or before the first one, without the tasks that it had.
    ///
    /// # Errors
    /// The database does not answer, or this process does not own it.
    pub async fn begin(
        &self,
        subscriber: &str,
        position: Option<SubscriberCheckpoint>,
        tasks: &[Task],
    ) -> Result<(), StateError> {
        let mut statements = ChangeStatements::new(subscriber);
        statements.push_statement("DELETE FROM es_task WHERE subscriber = $1", []);
        for task in tasks {
            statements.push_change(&TaskChange::Plan(task.clone()));
        }
        statements.push_statement(SAVE_POSITION, position_cells(position));
        self.write(statements.into_statements()).await
    }
}

const SAVE_POSITION: &str = "INSERT INTO es_subscriber (name, position, hash, is_lost) VALUES ($1, $2, $3, 0) \
     ON CONFLICT (name) DO UPDATE SET position = excluded.position, hash = excluded.hash, is_lost = 0";

fn position_cells(position: Option<SubscriberCheckpoint>) -> [Cell; 2] {
    position.map_or([Cell::Null, Cell::Null], |checkpoint| {
        let hash = checkpoint.hash.to_string();
        [event_cell(checkpoint.event), hash.into()]
    })
}

/// Returns a number that no instance and no ownership of this process has.
fn next_number() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

impl Instance {
    /// Reserves the ownership within this process.
    fn reserve(&self) -> bool {
        let mut owner = self.shared.lock_owner();
        *owner.get_or_insert(self.number) == self.number
    }

    fn free(&self) {
        let mut owner = self.shared.lock_owner();
        if *owner == Some(self.number) {
            *owner = None;
        }
    }
}

impl SharedDatabase {
    async fn connect(&self) -> Result<&SqlDatabase, StateError> {
        let open = || SqlDatabase::open(&self.url, QUERY_TIME, DatabaseUse::State);
        Ok(self.sql.get_or_try_init(open).await?)
    }

    fn lock_owner(&self) -> MutexGuard<'_, Option<u64>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Another instance of this process can own the database after that. The database itself is closed with the last instance.
impl Drop for Instance {
    fn drop(&mut self) {
        self.free();
    }
}
