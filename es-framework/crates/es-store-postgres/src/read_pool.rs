//! The connections that read. A read is repeated after a failure, on the server that accepts writes
//! by then.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use sqlx::{AssertSqlSafe, PgConnection};
use tokio::{sync::Semaphore, time::timeout};

use super::{
    damage_record, database_error::DatabaseError, server_connection::WritableConnection,
    store_limits::StoreLimits, store_state::StoreState,
};
use es_sql::postgres::{Remedy, RetrySchedule};
use es_store::StoreError;

/// The statements of one step of a read.
#[async_trait]
pub(super) trait ReadStep: Sync {
    type Output: Send;

    async fn run(&self, connection: &mut PgConnection) -> Result<Self::Output, DatabaseError>;
}

/// Connections to the server that accepts writes. Unlike the pool of sqlx, it looks for another server
/// as soon as a connection fails, and tells a server that is away from connections that are in use.
#[derive(Debug)]
pub(super) struct ReadPool {
    idle: Mutex<Vec<WritableConnection>>,
    readers: Semaphore,
}

impl ReadPool {
    pub(super) fn new(limits: &StoreLimits) -> Self {
        Self {
            idle: Mutex::default(),
            readers: Semaphore::new(limits.readers),
        }
    }

    /// Runs a step. Repeats it after a failure that may pass, until it succeeds or its time is over.
    pub(super) async fn run_step<S: ReadStep>(
        &self,
        state: &StoreState,
        step: &S,
    ) -> Result<S::Output, StoreError> {
        let mut schedule = RetrySchedule::new(state.limits.retry_time);
        loop {
            let error = match self.try_read(state, step).await {
                Ok(output) => return Ok(output),
                Err(error) => error,
            };
            let remedy = match error {
                DatabaseError::Busy => Remedy::GiveUp,
                _ => error.remedy(),
            };
            if remedy == Remedy::Reconnect {
                // The other connections are likely to be broken, too.
                drop(self.take_idle());
            }
            if !schedule.wait(remedy).await {
                return Err(error.to_store_error(&state.description));
            }
        }
    }

    async fn try_read<S: ReadStep>(
        &self,
        state: &StoreState,
        step: &S,
    ) -> Result<S::Output, DatabaseError> {
        let limit = state.limits.read_time;
        let Ok(Ok(_permit)) = timeout(limit, self.readers.acquire()).await else {
            return Err(DatabaseError::Busy);
        };
        let mut connection = match self.pop_idle(state) {
            Some(connection) => connection,
            None => connect(state).await?,
        };
        let failover = state.await_failover(connection.failovers);
        let run = async {
            let connection = &mut connection.connection;
            let output = step.run(connection).await;
            if let Err(DatabaseError::Damaged(damage)) = &output {
                damage_record::record_damage(connection, damage, false).await?;
            }
            output
        };
        let output = tokio::select! {
            output = timeout(limit, run) => output.unwrap_or(Err(DatabaseError::Timeout))?,
            () = failover => return Err(DatabaseError::Timeout),
        };
        self.lock_idle(|idle| idle.push(connection));
        Ok(output)
    }

    fn pop_idle(&self, state: &StoreState) -> Option<WritableConnection> {
        let popped = self.lock_idle(Vec::pop);
        let current = popped.filter(|connection| state.is_connection_current(connection));
        if current.is_none() {
            drop(self.take_idle());
        }
        current
    }

    fn take_idle(&self) -> Vec<WritableConnection> {
        self.lock_idle(std::mem::take)
    }

    fn lock_idle<T>(&self, act: impl FnOnce(&mut Vec<WritableConnection>) -> T) -> T {
        act(&mut self.idle.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Connects, and makes the server end the statements of which the client has given up waiting.
async fn connect(state: &StoreState) -> Result<WritableConnection, DatabaseError> {
    let mut found = state.connect_to_primary().await?;
    let limit = state.limits.read_time;
    let set = format!("SET statement_timeout = {}", limit.as_millis());
    let set = sqlx::query(AssertSqlSafe(set)).execute(&mut found.connection);
    let set = timeout(limit, set).await;
    set.map_err(|_| DatabaseError::Timeout)??;
    Ok(found)
}
