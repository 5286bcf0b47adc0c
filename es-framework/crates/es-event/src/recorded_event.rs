//! Events that the store has recorded.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{
    EventCandidate, EventId, EventTime, EventType, Hash, HashVersion, HashedMetadata, Subject,
    TraceContext,
};

/// The CloudEvents version of every event.
///
/// ```
/// assert_eq!(es_event::SPEC_VERSION, "1.0");
/// ```
pub const SPEC_VERSION: &str = "1.0";
/// The media type of every event's data.
///
/// ```
/// assert_eq!(es_event::DATA_CONTENT_TYPE, "application/json");
/// ```
pub const DATA_CONTENT_TYPE: &str = "application/json";

/// An event as the store records it.
///
/// ```
/// use es_event::{EventCandidate, EventId, EventTime, EventType, Hash, RecordedEvent};
/// use serde_json::{json, value::to_raw_value};
///
/// let candidate = EventCandidate {
///     source: "library-service".into(),
///     subject: "/books/42".parse()?,
///     event_type: EventType::declared("com.example.library.BookRemovedEvent"),
///     data: to_raw_value(&json!({"payload": {"reason": "torn"}}))?,
///     trace: None,
/// };
/// let mut event = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
/// event.verify(Hash::ZERO)?;
/// event.source = "somebody-else".into();
/// assert!(event.verify(Hash::ZERO).is_err());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RecordedEvent {
    /// The application or URI that published the event.
    pub source: Arc<str>,
    /// The subject of the event.
    pub subject: Subject,
    /// The type of the event.
    pub event_type: EventType,
    /// The trace that the event belongs to.
    pub trace: Option<TraceContext>,
    /// The number of the event in the store.
    pub id: EventId,
    /// The time at which the store recorded the event.
    pub time: EventTime,
    /// The hash of the preceding event, or [`Hash::ZERO`].
    pub predecessor_hash: Hash,
    /// A JSON object. The hash covers these exact bytes.
    pub data: Box<RawValue>,
    /// The hash of all members above. Only version 2 covers the trace.
    pub hash: Hash,
    /// The reason why a sealed value in the data does not open. Then the data stays sealed, and the payload cannot be read.
    #[doc(hidden)]
    pub unopened: Option<Arc<str>>,
}

/// The error for an event that breaks the hash chain.
///
/// ```
/// # use es_event::{EventCandidate, EventId, EventTime, EventType, Hash, Metadata, RecordedEvent};
/// # let candidate = EventCandidate {
/// #     source: "library-service".into(),
/// #     subject: "/books/42".parse()?,
/// #     event_type: EventType::declared("com.example.library.BookRemovedEvent"),
/// #     data: es_event::encode(&Metadata::default(), &serde_json::json!({ "why": "torn" }))?,
/// #     trace: None,
/// # };
/// # let event = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
/// use es_event::BrokenChain;
///
/// let mut tampered = event.clone();
/// tampered.source = "somebody-else".into();
/// assert!(matches!(tampered.verify(Hash::ZERO), Err(BrokenChain::Hash { .. })));
/// let elsewhere = event.verify(Hash::from_bytes([1; 32]));
/// assert!(matches!(elsewhere, Err(BrokenChain::Predecessor { .. })));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrokenChain {
    /// The hash of the event does not match its content.
    #[error("event {id} was changed: its hash is {found}, its content gives {computed}")]
    Hash {
        /// The id of the event.
        id: EventId,
        /// The hash that the event carries.
        found: Hash,
        /// The hash that follows from the content.
        computed: Hash,
    },
    /// The predecessor hash is not the hash of the preceding event.
    #[error("event {id} does not follow the event before it, whose hash is {expected}")]
    Predecessor {
        /// The id of the event.
        id: EventId,
        /// The hash of the preceding event.
        expected: Hash,
    },
}

impl RecordedEvent {
    /// Turns a candidate into a recorded event: sets the id and the time, and computes the hash in
    /// version 1.
    #[must_use]
    pub fn record(
        candidate: EventCandidate,
        id: EventId,
        time: EventTime,
        predecessor_hash: Hash,
    ) -> Self {
        Self::record_with_version(HashVersion::V1, candidate, id, time, predecessor_hash)
    }

    /// Turns a candidate into a recorded event with a hash of this version.
    #[must_use]
    pub fn record_with_version(
        version: HashVersion,
        candidate: EventCandidate,
        id: EventId,
        time: EventTime,
        predecessor_hash: Hash,
    ) -> Self {
        let EventCandidate {
            source,
            subject,
            event_type,
            data,
            trace,
        } = candidate;
        let hash = Hash::new(version, [0; 32]);
        let mut event = Self {
            source,
            subject,
            event_type,
            trace,
            id,
            time,
            predecessor_hash,
            data,
            hash,
            unopened: None,
        };
        event.hash = event.computed_hash();
        event
    }

    /// Computes the hash from the content, in the version that the event's hash has.
    #[must_use]
    pub fn computed_hash(&self) -> Hash {
        let trace = self.trace.as_ref();
        let metadata = HashedMetadata {
            specversion: SPEC_VERSION,
            id: self.id.get(),
            predecessor: self.predecessor_hash,
            time: self.time.as_str(),
            source: &self.source,
            subject: self.subject.as_str(),
            event_type: self.event_type.as_str(),
            data_content_type: DATA_CONTENT_TYPE,
            traceparent: trace.map(TraceContext::parent),
            tracestate: trace.and_then(TraceContext::state),
        };
        Hash::of_event(self.hash.version(), &metadata, self.data.get().as_bytes())
    }

    /// Checks that the content matches the hash and that the predecessor has the hash
    /// `predecessor`.
    ///
    /// # Errors
    /// Fails if the event was changed, or if events before it were added or removed.
    pub fn verify(&self, predecessor: Hash) -> Result<(), BrokenChain> {
        if self.predecessor_hash != predecessor {
            return Err(BrokenChain::Predecessor {
                id: self.id,
                expected: predecessor,
            });
        }
        let computed = self.computed_hash();
        if self.hash == computed {
            return Ok(());
        }
        Err(BrokenChain::Hash {
            id: self.id,
            found: self.hash,
            computed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(id: u64, predecessor: Hash) -> RecordedEvent {
        recorded_in(HashVersion::V1, id, predecessor)
    }

    fn recorded_in(version: HashVersion, id: u64, predecessor: Hash) -> RecordedEvent {
        let candidate = EventCandidate {
            source: "library-service".into(),
            subject: "/books/42".parse().unwrap(),
            event_type: "com.example.library.BookPurchasedEvent".parse().unwrap(),
            data: RawValue::from_string(r#"{"metadata":{},"payload":{}}"#.into()).unwrap(),
            trace: None,
        };
        RecordedEvent::record_with_version(
            version,
            candidate,
            EventId::new(id).unwrap(),
            EventTime::now(),
            predecessor,
        )
    }

    #[test]
    fn a_chain_that_nobody_touched_verifies() {
        let first = recorded(0, Hash::ZERO);
        let second = recorded(1, first.hash);
        assert_eq!(first.verify(Hash::ZERO), Ok(()));
        assert_eq!(second.verify(first.hash), Ok(()));
    }

    #[test]
    fn a_chain_of_both_hash_versions_verifies() {
        let mut predecessor = Hash::ZERO;
        for (id, version) in [
            HashVersion::V1,
            HashVersion::V2,
            HashVersion::V2,
            HashVersion::V1,
        ]
        .into_iter()
        .enumerate()
        {
            let id = u64::try_from(id).unwrap();
            let event = recorded_in(version, id, predecessor);
            assert_eq!(event.hash.version(), version);
            assert_eq!(event.verify(predecessor), Ok(()));
            let mut relabeled = event.clone();
            relabeled.hash = Hash::from_bytes(*event.hash.as_bytes());
            assert_eq!(
                relabeled.verify(predecessor).is_ok(),
                version == HashVersion::V1
            );
            predecessor = event.hash;
        }
    }

    #[test]
    fn a_changed_or_misplaced_event_is_named() {
        let first = recorded(0, Hash::ZERO);
        let mut changed = first.clone();
        changed.data = RawValue::from_string("{}".into()).unwrap();
        assert!(matches!(
            changed.verify(Hash::ZERO),
            Err(BrokenChain::Hash { .. })
        ));
        assert!(matches!(
            first.verify(first.hash),
            Err(BrokenChain::Predecessor { .. })
        ));
    }
}
