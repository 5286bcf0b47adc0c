//! Stands for PostgreSQL as event store in a program without the feature `postgres`.

use std::sync::Arc;

use crate::{
    ApiToken, Error, Result,
    config::{EventStoreUrl, Settings},
    store::EventStore,
};

pub(super) async fn open(
    _settings: &Settings,
    _url: &EventStoreUrl,
) -> Result<(Arc<dyn EventStore>, ApiToken)> {
    Err(Error::missing_feature(
        "EVENT_STORE_URL=postgres://…",
        "postgres",
    ))
}
