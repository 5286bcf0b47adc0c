//! The erasures of personal data, as read models follow them: an announcement is an event, after which rows are rebuilt as for
//! a changed definition.

use es_event::{
    Hash, RecordedEvent,
    personal::{announces_erasure, erasures_subject},
};
use es_store::{EventLog, StoreError, latest_event};
use es_subscribe::SubscriberCheckpoint;

/// The announced erasures that the tables of a processor know.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum KnownErasures {
    /// No read model holds personal data.
    #[default]
    Ignored,
    /// All erasures up to this one are known.
    UpTo(Option<SubscriberCheckpoint>),
}

impl KnownErasures {
    /// Loads the erasures that are announced by now.
    pub(super) async fn load(store: &dyn EventLog) -> Result<Self, StoreError> {
        let subject = erasures_subject().map_err(|error| StoreError::Refused(error.to_string()))?;
        let latest = latest_event(store, subject, true).await?;
        Ok(Self::UpTo(
            latest.as_ref().map(SubscriberCheckpoint::from_event),
        ))
    }

    /// Returns true if an event announces an erasure that is not known.
    pub(super) fn is_new(self, event: &RecordedEvent) -> bool {
        match self {
            Self::Ignored => false,
            Self::UpTo(last) => {
                announces_erasure(event) && last.is_none_or(|last| event.id > last.event)
            }
        }
    }

    /// Returns the hash of the last announcement.
    pub(super) fn last(self) -> Option<Hash> {
        match self {
            Self::UpTo(Some(last)) => Some(last.hash),
            Self::UpTo(None) | Self::Ignored => None,
        }
    }
}
