//! Connections to the server that accepts writes.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::time::timeout;

use super::{
    database_error::{DatabaseError, PostgresOpenError},
    log_head,
    seen_event::SeenEvent,
    store_address::StoreAddress,
    store_limits::StoreLimits,
};
use es_sql::postgres::{
    Remedy, accepts_writes, explain_pool, find_unsafe_setting, first_success,
    refuse_transaction_pool, server_name,
};

/// A writer that stops in the middle of a batch keeps all other writers waiting for its lock, so the
/// server ends its session. A writer that waits for the lock gives up before its client does, because
/// the server does not notice that the client is gone. The wait for a standby has no limit: its end
/// would confirm events that only the primary has.
///
/// The statements of the event store have one good plan each, whatever their parameters are. Planning them each time
/// takes longer than running them. An engine without the setting has no row of it.
const SESSION: [&str; 4] = [
    "SET idle_in_transaction_session_timeout = '5s'",
    "SET lock_timeout = '4s'",
    "SET statement_timeout = 0",
    "SELECT set_config(name, 'force_generic_plan', false) FROM pg_settings WHERE name = 'plan_cache_mode'",
];

/// A connection to the server that accepts writes.
#[derive(Debug)]
pub(super) struct WritableConnection {
    pub(super) connection: PgConnection,
    /// The position of the server among those that the URL lists, from 0.
    pub(super) server: usize,
    /// The number of times that connections had been given up before this one was opened.
    pub(super) failovers: u64,
    /// The event that this instance has seen, if the server lacks it.
    pub(super) lost: Option<SeenEvent>,
}

/// The reason for not choosing a server first.
enum Refusal {
    Failed(DatabaseError),
    /// It accepts writes, but lacks an event that this instance has seen.
    Incomplete(WritableConnection),
}

impl StoreAddress {
    /// Connects to all servers at once, and returns the first that accepts writes and has the event that this instance
    /// has seen. One that hangs delays nobody. A server that lacks the event, such as an old primary, is returned only if
    /// all others answer and cannot be used.
    pub(super) async fn connect_to_primary(
        &self,
        limits: &StoreLimits,
        seen: Option<SeenEvent>,
    ) -> Result<WritableConnection, DatabaseError> {
        let servers = self.servers.iter().enumerate();
        let attempts = servers.map(|(number, server)| async move {
            let connecting = timeout(limits.connect_time, self.connect_to(server, seen)).await;
            let connected = connecting.unwrap_or(Err(DatabaseError::Timeout));
            let (connection, lost) = connected.map_err(Refusal::Failed)?;
            let found = WritableConnection {
                connection,
                server: number,
                failovers: 0,
                lost,
            };
            match lost {
                None => Ok(found),
                Some(_) => Err(Refusal::Incomplete(found)),
            }
        });
        let refusals = match first_success(attempts).await {
            Ok(connection) => return Ok(connection),
            Err(refusals) => refusals,
        };
        let (mut failures, mut incomplete) = (Vec::new(), None);
        for refusal in refusals {
            match refusal {
                Refusal::Failed(error) => failures.push(error),
                Refusal::Incomplete(found) => incomplete = Some(found),
            }
        }
        // A server that does not answer in time may have the event.
        let is_open = |error: &DatabaseError| matches!(error, DatabaseError::Timeout);
        if let Some(found) = incomplete
            && !failures.iter().any(is_open)
        {
            return Ok(found);
        }
        // While one server may still become the primary, the caller waits for it, whatever is wrong with the others.
        let is_final = |error: &DatabaseError| error.remedy() == Remedy::GiveUp;
        let are_all_final = failures.iter().all(is_final);
        let failure = failures.into_iter().max_by_key(rank);
        match failure.unwrap_or(DatabaseError::Timeout) {
            failure if are_all_final => Err(failure),
            failure @ DatabaseError::Server(_) if !is_final(&failure) => Err(failure),
            failure => Err(DatabaseError::Server(PostgresOpenError::Unavailable {
                address: self.to_string(),
                reason: failure.to_string(),
            })),
        }
    }

    /// Connects as [`connect_to_primary`](Self::connect_to_primary) does, and waits for a server that is starting.
    pub(super) async fn await_connection(
        &self,
        limits: &StoreLimits,
    ) -> Result<WritableConnection, DatabaseError> {
        let begun = Instant::now();
        loop {
            match self.connect_to_primary(limits, None).await {
                Err(error)
                    if error.remedy() != Remedy::GiveUp && begun.elapsed() < limits.start_time =>
                {
                    tracing::warn!(%error, "waiting for the event store");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                result => return result,
            }
        }
    }

    /// Refuses a connection pool in transaction mode before the server with this position in the URL.
    pub(super) async fn refuse_transaction_pool(
        &self,
        connection: &mut PgConnection,
        server: usize,
    ) -> Result<(), DatabaseError> {
        let Some(options) = self.servers.connection_options(server) else {
            return Ok(());
        };
        Ok(refuse_transaction_pool(connection, options).await?)
    }

    /// Connects to a server, and returns the event if it lacks it.
    async fn connect_to(
        &self,
        server: &PgConnectOptions,
        seen: Option<SeenEvent>,
    ) -> Result<(PgConnection, Option<SeenEvent>), DatabaseError> {
        let connection = PgConnection::connect_with(server).await;
        let mut connection = connection.map_err(explain_pool)?;
        if !accepts_writes(&mut connection).await? {
            return Err(DatabaseError::Server(PostgresOpenError::Unavailable {
                address: self.to_string(),
                reason: format!("{} is a standby or read-only", server_name(server)),
            }));
        }
        if let Some(flaw) = find_unsafe_setting(&mut connection, self.accepts_data_loss).await? {
            return Err(PostgresOpenError::Unsafe(flaw).into());
        }
        for setting in SESSION {
            sqlx::query(setting).execute(&mut connection).await?;
        }
        let lost = match seen {
            Some(seen) if !log_head::holds_event(&mut connection, seen).await? => Some(seen),
            _ => None,
        };
        Ok((connection, lost))
    }
}

/// Returns how much an error of one server says about why no server can be used.
fn rank(error: &DatabaseError) -> u8 {
    match error {
        error if error.remedy() == Remedy::GiveUp => 3,
        DatabaseError::Server(_) => 1,
        DatabaseError::Timeout => 0,
        _ => 2,
    }
}
