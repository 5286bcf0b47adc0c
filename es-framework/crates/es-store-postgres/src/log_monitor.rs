//! Watches the end of the log and the server that accepts writes: when another instance announces new
//! events, and each second. The monitor wakes subscribers. After a failover it ends all statements, so that they
//! run again on the new server.

use std::{future, sync::Arc, time::Duration};

use sqlx::postgres::{PgListener, PgNotification, PgPoolOptions};
use tokio::time::timeout;

use super::{
    database_error::DatabaseError, log_head, log_writer::CHANNEL,
    server_connection::WritableConnection, store_state::StoreState,
};
use es_sql::postgres::Remedy;

/// The pause between two attempts to find the server.
const PAUSE: Duration = Duration::from_millis(200);

/// Publishes the events that other instances store, until it is aborted.
pub(super) async fn watch_log(state: Arc<StoreState>, server: WritableConnection) {
    let state = &*state;
    let mut notifications = Notifications {
        is_enabled: state.address.uses_notifications,
        server: Some(server.server),
        listener: None,
    };
    let mut monitor = LogMonitor {
        state,
        server: Some(server),
        lost: None,
    };
    let mut has_failed = false;
    loop {
        // Looks at the log after this time at the latest, in case a notification was lost.
        let _ = timeout(state.limits.poll_time, notifications.wait(state)).await;
        while let Err(error) = monitor.look().await {
            if !has_failed {
                tracing::warn!(%error, "subscriptions receive no new events");
            }
            has_failed = true;
            tokio::time::sleep(PAUSE).await;
        }
        has_failed = false;
        notifications.follow(monitor.server.as_ref());
    }
}

/// The connection that looks at the end of the log.
struct LogMonitor<'a> {
    state: &'a StoreState,
    server: Option<WritableConnection>,
    /// The server of the last connection, and whether it did not answer rather than end the connection.
    lost: Option<(usize, bool)>,
}

impl LogMonitor<'_> {
    /// Publishes the end of the log.
    async fn look(&mut self) -> Result<(), DatabaseError> {
        let state = self.state;
        let server = self.server.take();
        let mut server = match server.filter(|server| state.is_connection_current(server)) {
            Some(server) => server,
            None => self.find_server().await?,
        };
        let reading = async {
            let last = log_head::read_last(&mut server.connection).await?;
            state.check_seen(&mut server.connection).await?;
            Ok(last)
        };
        let read = timeout(state.limits.answer_time, reading).await;
        match read.unwrap_or(Err(DatabaseError::Timeout)) {
            Ok(last) => {
                self.server = Some(server);
                if let Some(last) = last {
                    state.record_seen(last);
                    state.publish(last.id.get().saturating_add(1));
                }
                Ok(())
            }
            Err(error @ DatabaseError::Damaged(_)) => {
                self.server = Some(server);
                Err(error)
            }
            Err(error) => {
                let is_slow = matches!(error, DatabaseError::Timeout);
                self.lost = Some((server.server, is_slow));
                Err(error)
            }
        }
    }

    async fn find_server(&mut self) -> Result<WritableConnection, DatabaseError> {
        let mut found = self.state.connect_to_primary().await?;
        // A server that was only slow still works on the statements that it has received.
        if self.lost.take() == Some((found.server, false)) {
            self.state.give_up_other_connections(&mut found);
        }
        Ok(found)
    }
}

/// The notifications of other instances.
struct Notifications {
    is_enabled: bool,
    /// The position of the server among those that the URL lists, from 0.
    server: Option<usize>,
    listener: Option<PgListener>,
}

impl Notifications {
    /// Listens to the server of the monitor from now on.
    fn follow(&mut self, found: Option<&WritableConnection>) {
        let server = found.map(|found| found.server);
        if server != self.server {
            self.listener = None;
        }
        self.server = server;
    }

    /// Waits until there may be events that this instance does not know: another instance announces some, or it did so
    /// before this one listened.
    async fn wait(&mut self, state: &StoreState) {
        while self.is_enabled {
            match self.receive(state).await {
                Ok(Some(notification)) => {
                    let announced = notification.payload().parse().unwrap_or(u64::MAX);
                    if announced > *state.length().borrow() {
                        return;
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    self.listener = None;
                    let error = DatabaseError::from(error);
                    if error.remedy() != Remedy::GiveUp {
                        tokio::time::sleep(PAUSE).await;
                        return;
                    }
                    tracing::info!(%error, "the server has no notifications, so this one polls");
                    self.is_enabled = false;
                }
            }
        }
        future::pending().await
    }

    /// Returns the next notification, or `None` if this instance has just begun to listen.
    async fn receive(&mut self, state: &StoreState) -> Result<Option<PgNotification>, sqlx::Error> {
        if let Some(listener) = &mut self.listener {
            // After a lost connection, it returns `None` and listens again.
            return listener.try_recv().await;
        }
        let servers = &state.address.servers;
        let options = self
            .server
            .and_then(|server| servers.connection_options(server));
        let Some(options) = options else {
            return future::pending().await;
        };
        let pool = PgPoolOptions::new().max_connections(1);
        let pool = pool.connect_lazy_with(options.clone());
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen(CHANNEL).await?;
        self.listener = Some(listener);
        Ok(None)
    }
}
