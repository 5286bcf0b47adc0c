//! Verifies the whole hash chain of a store, and the tables that follow from it.

use futures_util::StreamExt as _;

use super::{Bound, EventStore, ReadOptions, StoreError};
use es_event::{EventId, Hash, RecordedEvent, Subject};

/// The number of events between two progress reports.
const STEP: u64 = 16_384;

/// The result of the verification of a store's hash chain.
///
/// ```
/// use es_store::VerificationReport;
///
/// /// What an operator writes down, to compare it with later.
/// fn note(verified: &VerificationReport) -> Option<String> {
///     let VerificationReport { events, hash, flaw, table_flaw } = verified;
///     (flaw.is_none() && table_flaw.is_none()).then(|| format!("{events} {hash}"))
/// }
/// # assert!(note(&VerificationReport { events: 0, hash: es_event::Hash::ZERO, flaw: None, table_flaw: None }).is_some());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationReport {
    /// The number of intact events, counted from the first.
    pub events: u64,
    /// The hash of the last intact event. An operator who records it elsewhere can prove later that
    /// no event was changed or removed.
    pub hash: Hash,
    /// The first place where the chain breaks, if there is one.
    pub flaw: Option<ChainFlaw>,
    /// The first difference between the events and a table that follows from them, or a broken schema.
    pub table_flaw: Option<String>,
}

/// The first place where a hash chain breaks.
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
/// use es_store::Chain;
///
/// let later = RecordedEvent { id: EventId::new(7).ok_or("too large")?, ..event };
/// let flaw = Chain::default().verify_next(&later).unwrap_err();
/// assert_eq!((flaw.event, flaw.reason.as_str()), (0, "event 0 is missing: 7 follows"));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainFlaw {
    /// The id of the event that was changed, is missing or cannot be read.
    pub event: u64,
    /// The defect of the event.
    pub reason: String,
}

/// Verifies a chain event by event.
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
/// use es_store::Chain;
///
/// let mut chain = Chain::default();
/// assert_eq!(chain.verify_next(&event), Ok(()));
/// assert_eq!((chain.events(), chain.hash()), (1, event.hash));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Chain {
    events: u64,
    hash: Hash,
}

impl Default for Chain {
    fn default() -> Self {
        let (events, hash) = (0, Hash::ZERO);
        Self { events, hash }
    }
}

impl Chain {
    /// Creates a chain that continues behind `events` events, the last of which has this hash.
    #[must_use]
    pub const fn at(events: u64, hash: Hash) -> Self {
        Self { events, hash }
    }

    /// Returns the number of verified events.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Returns the hash of the last event.
    #[must_use]
    pub const fn hash(&self) -> Hash {
        self.hash
    }

    /// Verifies the next event.
    ///
    /// # Errors
    /// The event was changed, or it is not the next one.
    pub fn verify_next(&mut self, event: &RecordedEvent) -> Result<(), ChainFlaw> {
        let flaw = |event, reason| ChainFlaw { event, reason };
        if Some(event.id) != EventId::new(self.events) {
            let reason = format!("event {} is missing: {} follows", self.events, event.id);
            return Err(flaw(self.events, reason));
        }
        let verified = event.verify(self.hash);
        verified.map_err(|broken| flaw(self.events, broken.to_string()))?;
        (self.events, self.hash) = (self.events.saturating_add(1), event.hash);
        Ok(())
    }
}

/// The work that a verification has done so far. The tables follow the chain.
///
/// ```
/// use es_store::VerificationProgress;
///
/// fn describe(progress: VerificationProgress) -> String {
///     match progress {
///         VerificationProgress::Chain { events } => format!("{events} events are whole"),
///         VerificationProgress::Tables { entries } => format!("{entries} entries of tables are compared"),
///     }
/// }
/// # assert!(describe(VerificationProgress::Chain { events: 7 }).starts_with("7 events"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerificationProgress {
    /// The hash chain is verified up to here.
    Chain {
        /// The number of intact events.
        events: u64,
    },
    /// The tables are compared with the events up to here.
    Tables {
        /// The number of events that were looked up in tables, and of rows that were looked up in the events.
        entries: u64,
    },
}

/// Verifies every event of a store and the tables that follow from them, and reports the progress at regular intervals.
///
/// # Errors
/// The store does not answer. An unreadable event is a flaw and not an error.
///
/// ```
/// use es_event::Hash;
/// use es_store::{verify, memory::MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_store::StoreError> {
/// let verified = verify(&MemoryStore::new(), |_| {}).await?;
/// assert_eq!((verified.events, verified.hash, verified.flaw), (0, Hash::ZERO, None));
/// # Ok(())
/// # }
/// ```
pub async fn verify(
    store: &dyn EventStore,
    mut progress: impl FnMut(VerificationProgress) + Send,
) -> Result<VerificationReport, StoreError> {
    let mut chain = Chain::default();
    let mut events = store.read(Subject::root(), ReadOptions::recursive());
    let flaw = loop {
        let checked = match events.next().await {
            None => break None,
            Some(Ok(event)) => chain.verify_next(&event),
            Some(Err(StoreError::Corrupt { reason, .. })) => {
                Err(find(store, &mut chain, reason).await)
            }
            Some(Err(error)) => return Err(error),
        };
        if let Err(flaw) = checked {
            break Some(flaw);
        }
        if chain.events().is_multiple_of(STEP) {
            let events = chain.events();
            progress(VerificationProgress::Chain { events });
        }
    };
    let events = chain.events();
    progress(VerificationProgress::Chain { events });
    let mut compared = |entries| progress(VerificationProgress::Tables { entries });
    let table_flaw = match &flaw {
        None => match store.find_table_flaw(&mut compared).await {
            Err(StoreError::Corrupt { reason, .. }) => Some(reason),
            found => found?,
        },
        Some(_) => None,
    };
    Ok(VerificationReport {
        events: chain.events(),
        hash: chain.hash(),
        flaw,
        table_flaw,
    })
}

/// Finds the event that cannot be read. A store reads many events at once, so an unreadable event
/// also hides the ones before it.
async fn find(store: &dyn EventStore, chain: &mut Chain, reason: String) -> ChainFlaw {
    while let Some(id) = EventId::new(chain.events()) {
        let only = ReadOptions {
            lower_bound: Some(Bound::Inclusive(id)),
            upper_bound: Some(Bound::Inclusive(id)),
            ..ReadOptions::recursive()
        };
        let event = store.read(Subject::root(), only).next().await;
        let Some(Ok(event)) = event else {
            break;
        };
        if let Err(flaw) = chain.verify_next(&event) {
            return flaw;
        }
    }
    let event = chain.events();
    ChainFlaw { event, reason }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::memory::MemoryStore;
    use es_event::EventCandidate;

    fn candidate(number: usize) -> EventCandidate {
        EventCandidate {
            source: "tag:test".into(),
            subject: "/a".parse().unwrap(),
            event_type: "io.example.happened".parse().unwrap(),
            data: RawValue::from_string(format!(r#"{{"number":{number}}}"#)).unwrap(),
            trace: None,
        }
    }

    async fn recorded() -> (MemoryStore, Vec<RecordedEvent>) {
        let store = MemoryStore::new();
        let candidates = (0..4).map(candidate).collect();
        let events = store.append(candidates, vec![]).await.unwrap();
        (store, events)
    }

    #[tokio::test]
    async fn a_store_that_nobody_touched_is_whole() {
        let (store, events) = recorded().await;
        let verified = verify(&store, |_| {}).await.unwrap();
        assert_eq!((verified.events, verified.flaw), (4, None));
        assert_eq!(verified.table_flaw, None);
        assert_eq!(verified.hash, events[3].hash);
        let empty = verify(&MemoryStore::new(), |_| {}).await.unwrap();
        assert_eq!((empty.events, empty.hash), (0, Hash::ZERO));
    }

    #[tokio::test]
    async fn the_first_flaw_is_named() {
        let (_, events) = recorded().await;
        let flaw = |events: &[RecordedEvent]| {
            let mut chain = Chain::default();
            let mut followed = events.iter().map(|event| chain.verify_next(event));
            followed.find_map(Result::err).unwrap()
        };
        let mut changed = events.clone();
        changed[2].data = RawValue::from_string("{}".into()).unwrap();
        assert_eq!(flaw(&changed).event, 2);
        assert!(flaw(&changed).reason.starts_with("event 2 was changed"));
        let mut without = events.clone();
        without.remove(1);
        assert_eq!(flaw(&without).reason, "event 1 is missing: 2 follows");
        assert_eq!(flaw(&events[1..]).event, 0);
    }
}
