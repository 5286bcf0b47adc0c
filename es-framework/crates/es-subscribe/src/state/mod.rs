//! The state database: what has to survive and cannot be rebuilt from the events. These are the positions of
//! subscribers and their open tasks.
//!
//! One process owns the database at a time and does the work. The others stand by.

mod changes;
mod error;
mod identity;
mod ownership;
mod queries;
mod rows;
mod tables;
mod task;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use es_sql::{DatabaseUrl, Statement};

use self::{
    changes::{ChangeStatements, DELETE_ALL},
    ownership::Instance,
    rows::RowReader,
};
use crate::SubscriberCheckpoint;

pub use error::StateError;
pub use identity::check_position;
pub use task::{Task, TaskChange, TaskFailure, TaskKey};

/// The database of the tasks of all reactions. Clones are one instance: they own it together.
///
/// ```
/// use es_subscribe::{OpenDeadlines, state::StateDatabase};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_subscribe::state::StateError> {
/// let database = StateDatabase::in_memory();
/// assert!(database.try_own().await?.is_some());
/// // Another process stands by, and sees the tasks.
/// let other = database.another_instance();
/// assert!(other.try_own().await?.is_none());
/// assert_eq!(other.open_deadlines("receipts").await?, OpenDeadlines::default());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct StateDatabase {
    instance: Arc<Instance>,
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
        database.connect().await?;
        Ok(database)
    }

    /// Returns a database in memory.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(DatabaseUrl::Memory)
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
        match row.integer()? {
            0 => {}
            ENDED => return Err(StateError::Ended(subscriber.to_owned())),
            _ => return Err(StateError::TasksLost(subscriber.to_owned())),
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
            statements.push_statement(
                SAVE_POSITION,
                SubscriberCheckpoint::to_cells(Some(checkpoint)),
            );
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
        self.write(beginning(subscriber, position, tasks)).await
    }
}

/// Returns the statements that let a subscriber begin with these tasks alone.
fn beginning(
    subscriber: &str,
    position: Option<SubscriberCheckpoint>,
    tasks: &[Task],
) -> Vec<Statement> {
    let mut statements = ChangeStatements::new(subscriber);
    statements.push_statement(DELETE_ALL, []);
    for task in tasks {
        statements.push_change(&TaskChange::Plan(task.clone()));
    }
    let save = format!("{SAVE_POSITION}, is_lost = 0");
    statements.push_statement(&save, SubscriberCheckpoint::to_cells(position));
    statements.into_statements()
}

/// The value of `is_lost` of a subscriber that has ended.
const ENDED: i64 = 2;
const SAVE_POSITION: &str = "INSERT INTO es_subscriber (name, position, hash, is_lost) VALUES ($1, $2, $3, 0) \
     ON CONFLICT (name) DO UPDATE SET position = excluded.position, hash = excluded.hash";
