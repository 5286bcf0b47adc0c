//! The ownership of the database: one instance has it, and the others stand by.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use es_sql::{Cell, DatabaseUrl, DatabaseUse, QueryCost, SqlDatabase, Statement};
use tokio::sync::OnceCell;

use super::{
    StateDatabase, StateError,
    tables::{DatabaseIdentity, open_tables, read_identity},
};

/// The longest time of a query for the status.
const QUERY_TIME: Duration = Duration::from_secs(5);
/// The most bytes of rows that a query for the status reads.
const MOST_BYTES: usize = 16 << 20;

/// The use of a database by one process, or by one simulated process.
#[derive(Debug)]
pub(super) struct Instance {
    number: u64,
    shared: Arc<ProcessDatabase>,
    ownership: Mutex<Option<Ownership>>,
    /// Held while the events are made to name the database: two reactions at once would count its runs wrong.
    pub(super) announcing: tokio::sync::Mutex<()>,
}

/// The ownership of the database, until it is given up or lost.
#[derive(Debug)]
pub(super) struct Ownership {
    pub(super) identity: DatabaseIdentity,
    /// Tells this ownership from earlier ones of the process.
    term: u64,
    /// True if the events name this run of the database.
    pub(super) is_announced: bool,
}

/// A database that the instances of one process share.
#[derive(Debug)]
struct ProcessDatabase {
    url: DatabaseUrl,
    sql: OnceCell<SqlDatabase>,
    /// The number of the instance of this process that owns the database or asks for it.
    owner: Mutex<Option<u64>>,
}

impl StateDatabase {
    pub(super) fn new(url: DatabaseUrl) -> Self {
        Self::new_instance(Arc::new(ProcessDatabase {
            url,
            sql: OnceCell::new(),
            owner: Mutex::default(),
        }))
    }

    fn new_instance(shared: Arc<ProcessDatabase>) -> Self {
        let instance = Instance {
            number: next_number(),
            shared,
            ownership: Mutex::default(),
            announcing: tokio::sync::Mutex::default(),
        };
        Self {
            instance: Arc::new(instance),
        }
    }

    /// Returns the database, which is opened by the first call.
    pub(super) async fn connect(&self) -> Result<&SqlDatabase, StateError> {
        let shared = &self.instance.shared;
        let open = || SqlDatabase::open(&shared.url, QUERY_TIME, DatabaseUse::State);
        Ok(shared.sql.get_or_try_init(open).await?)
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
        let database = self.connect().await?;
        let stored = self.notice_loss(read_identity(database).await);
        match stored {
            Ok(stored) => {
                let ownership = self.ownership();
                let own = ownership
                    .as_ref()
                    .filter(|own| own.identity.id == stored.id);
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
        let database = self.connect().await?;
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
        *self.ownership() = None;
        // An attempt to become the owner may have been cancelled after it had the lock.
        if self.instance.has_reserved() {
            if let Some(database) = self.instance.shared.sql.get() {
                database.release_writer().await;
            }
            self.instance.free();
        }
    }

    pub(super) fn identity(&self) -> Result<DatabaseIdentity, StateError> {
        let ownership = self.ownership();
        let own = ownership.as_ref().ok_or(StateError::NotOwner)?;
        Ok(own.identity.clone())
    }

    pub(super) fn is_announced(&self) -> Result<bool, StateError> {
        let ownership = self.ownership();
        let own = ownership.as_ref().ok_or(StateError::NotOwner)?;
        Ok(own.is_announced)
    }

    pub(super) fn change_ownership(&self, change: impl FnOnce(&mut Ownership)) {
        if let Some(own) = self.ownership().as_mut() {
            change(own);
        }
    }

    fn forget_ownership(&self) {
        *self.ownership() = None;
        self.instance.free();
    }

    /// Selects rows, which no other process changes until this one writes.
    pub(super) async fn read(&self, statement: Statement) -> Result<Vec<Vec<Cell>>, StateError> {
        let result = self.owned()?.read(statement).await;
        self.notice_loss(result.map_err(Into::into))
    }

    /// Selects rows. To an instance that does not own the database, they are those of the last transaction.
    pub(super) async fn select(
        &self,
        sql: String,
        parameters: Vec<Cell>,
    ) -> Result<Vec<Vec<Cell>>, StateError> {
        if self.is_owner() {
            return self.read(Statement::new(sql, parameters)).await;
        }
        let database = self.connect().await?;
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
    pub(super) async fn write(&self, statements: Vec<Statement>) -> Result<(), StateError> {
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

    fn has_reserved(&self) -> bool {
        *self.shared.lock_owner() == Some(self.number)
    }

    fn free(&self) {
        let mut owner = self.shared.lock_owner();
        if *owner == Some(self.number) {
            *owner = None;
        }
    }
}

impl ProcessDatabase {
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
