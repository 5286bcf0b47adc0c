//! Replaces the embedded event store in a program without the feature `embedded`.

use std::{path::PathBuf, sync::Arc};

use crate::{ApiToken, Error, Result, config::Settings, store::EventStore};

/// An embedded event store. A program without the feature never has one.
pub(super) enum OpenEmbeddedStore {}

impl OpenEmbeddedStore {
    pub(super) async fn open(_settings: &Settings) -> Result<Self> {
        Err(Error::missing_feature(
            "an application without EVENT_STORE_URL",
            "embedded",
        ))
    }

    pub(super) async fn start_api(&mut self, _settings: &Settings) -> Result<()> {
        match *self {}
    }

    pub(super) fn as_event_store(&self) -> Arc<dyn EventStore> {
        match *self {}
    }

    pub(super) fn folder(&self) -> PathBuf {
        match *self {}
    }

    pub(super) fn operator_token(&self) -> ApiToken {
        match *self {}
    }

    pub(super) fn request_api_stop(&self) {
        match *self {}
    }

    pub(super) async fn close(self) {
        match self {}
    }
}
