//! The state that the writer shares with readers and callers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use sqlx::PgConnection;
use tokio::{sync::watch, time::timeout};

use super::{
    database_error::DatabaseError, event_catalogue::load_catalogue, seen_event::SeenEvent,
    server_connection::WritableConnection, store_address::StoreAddress, store_limits::StoreLimits,
};
use es_event::EventId;
use es_store::{StoreError, catalogue::EventTypeCatalogue};

/// The state of one open store.
#[derive(Debug)]
pub(super) struct StoreState {
    pub(super) address: StoreAddress,
    pub(super) limits: StoreLimits,
    /// The address for texts.
    pub(super) description: String,
    /// The event types that this instance knows, with or without a schema. The writer loads those that other
    /// instances registered.
    catalogue: RwLock<Arc<EventTypeCatalogue>>,
    /// The number of events that subscribers may read.
    length: watch::Sender<u64>,
    /// The newest event that this instance has seen. A server without it has lost events.
    newest_seen: Mutex<Option<SeenEvent>>,
    /// The number of losses of events that this instance has noticed.
    losses: watch::Sender<u64>,
    primary: watch::Sender<PrimaryServer>,
}

/// The server that all connections use.
#[derive(Debug, Clone, Copy)]
struct PrimaryServer {
    /// The position of the server among those that the URL lists, from 0.
    number: usize,
    /// The number of times that the connections were given up, because another server took over or a
    /// connection broke.
    failovers: u64,
}

impl StoreState {
    /// Creates the state of a store whose first connection is to the server with this number.
    pub(super) fn new(
        address: StoreAddress,
        limits: StoreLimits,
        catalogue: EventTypeCatalogue,
        server: usize,
    ) -> Self {
        Self {
            description: address.to_string(),
            address,
            limits,
            catalogue: RwLock::new(Arc::new(catalogue)),
            length: watch::Sender::new(0),
            newest_seen: Mutex::default(),
            losses: watch::Sender::new(0),
            primary: watch::Sender::new(PrimaryServer {
                number: server,
                failovers: 0,
            }),
        }
    }

    /// Connects to the server that accepts writes, and closes the log if it lacks what this instance has seen. If it is
    /// another server than before, all other connections are given up: the old server may still answer reads, but
    /// it lacks the events of the new one.
    pub(super) async fn connect_to_primary(&self) -> Result<WritableConnection, DatabaseError> {
        let failovers = self.primary.borrow().failovers;
        let seen = self.newest_seen();
        let connecting = self.address.connect_to_primary(&self.limits, seen);
        let found = connecting.await?;
        let mut connection = WritableConnection { failovers, ..found };
        if let Some(lost) = connection.lost {
            // A server whose standby is gone confirms no record of damage.
            let closing = self.close_after_loss(&mut connection.connection, lost);
            let closed = timeout(self.limits.answer_time, closing).await;
            closed.unwrap_or(Err(DatabaseError::Timeout))?;
        }
        self.primary.send_if_modified(|primary| {
            let is_other = primary.number != connection.server && primary.failovers == failovers;
            if is_other {
                primary.number = connection.server;
                primary.failovers = failovers.wrapping_add(1);
                connection.failovers = primary.failovers;
            }
            is_other
        });
        Ok(connection)
    }

    /// Returns true if no failover was noticed since this connection was opened.
    pub(super) fn is_connection_current(&self, connection: &WritableConnection) -> bool {
        connection.failovers == self.primary.borrow().failovers
    }

    /// Records an event that this instance wrote or read, if it is newer than the recorded one.
    pub(super) fn record_seen(&self, event: SeenEvent) {
        let mut seen = self.seen();
        if seen.is_none_or(|seen| seen.id < event.id) {
            *seen = Some(event);
        }
    }

    /// Returns the newest event that this instance wrote or read.
    pub(super) fn newest_seen(&self) -> Option<SeenEvent> {
        *self.seen()
    }

    /// Goes on from the end of a log that has lost events. All subscriptions end.
    pub(super) fn restart_from(&self, last: Option<SeenEvent>) {
        *self.seen() = last;
        self.length
            .send_replace(EventId::count_to(last.map(|last| last.id)));
        self.losses
            .send_modify(|losses| *losses = losses.wrapping_add(1));
    }

    /// Returns the number of losses, which changes with the next one.
    pub(super) fn losses(&self) -> watch::Receiver<u64> {
        self.losses.subscribe()
    }

    /// Returns the error of a subscription to a log that has lost events.
    pub(super) fn lost(&self) -> StoreError {
        StoreError::Unavailable {
            address: self.description.clone(),
            reason: "it has lost confirmed events".into(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Option<SeenEvent>> {
        let seen = self.newest_seen.lock();
        seen.unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all statements that run, so that they are repeated on new connections. Only this connection stays.
    pub(super) fn give_up_other_connections(&self, connection: &mut WritableConnection) {
        self.primary.send_modify(|primary| {
            primary.failovers = primary.failovers.wrapping_add(1);
            connection.failovers = primary.failovers;
        });
    }

    /// Waits until connections are given up that were opened after this number of failovers.
    pub(super) async fn await_failover(&self, failovers: u64) {
        let mut primary = self.primary.subscribe();
        let _ = primary
            .wait_for(|primary| primary.failovers != failovers)
            .await;
    }

    /// No change of the state can fail halfway, so a poisoned lock still guards a consistent state.
    pub(super) fn catalogue(&self) -> Arc<EventTypeCatalogue> {
        let catalogue = self.catalogue.read();
        Arc::clone(&catalogue.unwrap_or_else(PoisonError::into_inner))
    }

    /// Loads the schemas that other instances registered, if the log counts more than this one knows.
    pub(super) async fn refresh_catalogue(
        &self,
        connection: &mut PgConnection,
        schemas: usize,
    ) -> Result<(), DatabaseError> {
        if schemas != self.catalogue().schemas() {
            self.replace_catalogue(load_catalogue(connection).await?);
        }
        Ok(())
    }

    fn replace_catalogue(&self, catalogue: EventTypeCatalogue) {
        *self
            .catalogue
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(catalogue);
    }

    pub(super) fn modify_catalogue<T>(
        &self,
        change: impl FnOnce(&mut EventTypeCatalogue) -> T,
    ) -> T {
        let catalogue = self.catalogue.write();
        change(Arc::make_mut(
            &mut catalogue.unwrap_or_else(PoisonError::into_inner),
        ))
    }

    /// Reports the number of stored events to subscribers. It goes back only after a loss of events.
    pub(super) fn publish(&self, length: u64) {
        self.length.send_if_modified(|known| {
            let has_grown = length > *known;
            *known = length.max(*known);
            has_grown
        });
    }

    pub(super) fn length(&self) -> watch::Receiver<u64> {
        self.length.subscribe()
    }
}
