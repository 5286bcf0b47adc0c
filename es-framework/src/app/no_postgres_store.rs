//! Replaces PostgreSQL as event store in a program without the feature `postgres`.

use std::sync::Arc;

use crate::{
    ApiToken, Error, Result,
    config::{EventStoreUrl, Settings},
    event::Upcasters,
    projection::Database,
    store::{EventOpener, EventStore},
};

/// PostgreSQL as event store. A program without the feature never has one.
pub(super) enum OpenPostgresStore {}

impl OpenPostgresStore {
    pub(super) async fn open(_settings: &Settings, _url: &EventStoreUrl) -> Result<Self> {
        Err(Error::missing_feature(
            "EVENT_STORE_URL=postgres://…",
            "postgres",
        ))
    }

    pub(super) fn as_event_store(&self) -> Arc<dyn EventStore> {
        match *self {}
    }

    pub(super) fn operator_token(&self) -> ApiToken {
        match *self {}
    }

    pub(super) async fn close(self) {
        match self {}
    }

    pub(super) async fn enable_inline_rows(
        &self,
        _database: &Database,
        _upcasters: Upcasters,
        _opener: Option<Arc<dyn EventOpener>>,
    ) -> Result<bool> {
        match *self {}
    }
}
