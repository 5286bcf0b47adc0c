//! Verifies the hash chain of a store, and the tables that follow from it. What it finds opens or closes the log.

use std::time::Duration;

use futures_util::StreamExt as _;

use super::{
    Bound, DamageSettlement, EventLog, EventStore, EventStream, LogDamage, ReadOptions, StoreError,
    event_with_id,
};
use es_event::{EventId, Hash, RecordedEvent, Subject};

/// The number of events between two progress reports or pauses.
const STEP: u64 = 1_024;

/// The number of events that a start verifies.
pub const NEWEST: u64 = 10_000;

/// The most damage that a verification lists.
const LISTED: usize = 1_000;

/// The part of a log that is verified, and how fast.
#[derive(Debug, Clone, Copy, Default)]
pub struct VerificationScope {
    /// The first event. From a later one than 0, only the rows of tables that follow from these events are compared.
    pub first: u64,
    /// The pause after each step.
    pub pause: Duration,
}

/// The result of the verification of a store's hash chain and tables.
///
/// ```
/// use es_store::VerificationReport;
///
/// /// What an operator writes down, to compare it with later.
/// fn note(verified: &VerificationReport) -> Option<String> {
///     let VerificationReport { events, hash, damage } = verified;
///     damage.is_empty().then(|| format!("{events} {hash}"))
/// }
/// # assert!(note(&VerificationReport { events: 0, hash: es_event::Hash::ZERO, damage: vec![] }).is_some());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationReport {
    /// The number of intact events, counted from the first.
    pub events: u64,
    /// The hash of the last intact event. An operator who records it elsewhere can prove later that
    /// no event was changed or removed.
    pub hash: Hash,
    /// The damage: that of events in their order, or of the tables that follow from them.
    pub damage: Vec<LogDamage>,
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
    /// False if the hash of the last event is not known, because the event is damaged or was not read.
    is_known: bool,
}

impl Default for Chain {
    fn default() -> Self {
        Self::at(0, Hash::ZERO)
    }
}

impl Chain {
    /// Creates a chain that continues behind `events` events, the last of which has this hash.
    #[must_use]
    pub const fn at(events: u64, hash: Hash) -> Self {
        Self {
            events,
            hash,
            is_known: true,
        }
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

    /// Goes on behind an event that is damaged. The next event is not compared with it.
    const fn skip(&mut self) {
        (self.events, self.is_known) = (self.events.saturating_add(1), false);
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
        let predecessor = if self.is_known {
            self.hash
        } else {
            event.predecessor_hash
        };
        let verified = event.verify(predecessor);
        verified.map_err(|broken| flaw(self.events, broken.to_string()))?;
        *self = Self::at(self.events.saturating_add(1), event.hash);
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
/// Opens the log for writing if it is whole, and closes it otherwise.
///
/// # Errors
/// The store does not answer. An unreadable event is damage and not an error.
///
/// ```
/// use es_event::Hash;
/// use es_store::{verify, memory::MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_store::StoreError> {
/// let verified = verify(&MemoryStore::new(), |_| {}).await?;
/// assert_eq!((verified.events, verified.hash, verified.damage), (0, Hash::ZERO, vec![]));
/// # Ok(())
/// # }
/// ```
pub async fn verify(
    store: &dyn EventStore,
    progress: impl FnMut(VerificationProgress) + Send,
) -> Result<VerificationReport, StoreError> {
    let known = store.damaged_places().await?;
    let report = verify_scope(store, VerificationScope::default(), progress).await?;
    let settlement = DamageSettlement {
        known,
        found: report.damage.clone(),
        is_accepted: false,
    };
    store.settle_damage(settlement).await?;
    Ok(report)
}

/// Verifies a part of a log, and closes the log if it is damaged.
pub async fn verify_scope(
    store: &dyn EventStore,
    scope: VerificationScope,
    mut progress: impl FnMut(VerificationProgress) + Send,
) -> Result<VerificationReport, StoreError> {
    let (chain, whole, mut damage) = verify_chain(store, scope, &mut progress).await?;
    if damage.is_empty() {
        let mut compared = |entries| progress(VerificationProgress::Tables { entries });
        damage = store.find_table_damage(scope, &mut compared).await?;
    }
    if !damage.is_empty() {
        let settlement = DamageSettlement {
            known: Vec::new(),
            found: damage.clone(),
            is_accepted: false,
        };
        store.settle_damage(settlement).await?;
    }
    let whole = whole.unwrap_or(chain);
    Ok(VerificationReport {
        events: whole.events(),
        hash: whole.hash(),
        damage,
    })
}

/// Verifies the chain behind each damaged event, too. Returns its end, its end before the first damage, and the damage.
async fn verify_chain(
    log: &dyn EventLog,
    scope: VerificationScope,
    progress: &mut (impl FnMut(VerificationProgress) + Send),
) -> Result<(Chain, Option<Chain>, Vec<LogDamage>), StoreError> {
    let mut chain = Chain {
        is_known: scope.first == 0,
        ..Chain::at(scope.first, Hash::ZERO)
    };
    let (mut whole, mut damage) = (None, Vec::new());
    let mut events = read_from(log, &chain);
    loop {
        let checked = match events.next().await {
            None => break,
            Some(Ok(event)) => chain.verify_next(&event),
            Some(Err(StoreError::Corrupt { reason, .. })) => {
                Err(find_flaw(log, &mut chain, reason).await?)
            }
            Some(Err(error)) => return Err(error),
        };
        if let Err(ChainFlaw { event, reason }) = checked {
            whole.get_or_insert_with(|| chain.clone());
            let damaged = LogDamage::of_event(event, "").to_string();
            let reason = reason.strip_prefix(&*damaged).unwrap_or(&reason);
            damage.push(LogDamage::of_event(event, reason));
            if damage.len() >= LISTED {
                break;
            }
            chain.skip();
            events = read_from(log, &chain);
        } else if chain.events().is_multiple_of(STEP) {
            let events = chain.events();
            progress(VerificationProgress::Chain { events });
            if !scope.pause.is_zero() {
                tokio::time::sleep(scope.pause).await;
            }
        }
    }
    let events = chain.events();
    progress(VerificationProgress::Chain { events });
    Ok((chain, whole, damage))
}

fn read_from(log: &dyn EventLog, chain: &Chain) -> EventStream {
    let options = ReadOptions {
        lower_bound: EventId::new(chain.events()).map(Bound::Inclusive),
        ..ReadOptions::recursive()
    };
    log.read(Subject::root(), options)
}

/// Verifies event by event up to the one that cannot be read, and returns its flaw. A store reads many events at once, so
/// an unreadable event also hides the ones before it.
async fn find_flaw(
    log: &dyn EventLog,
    chain: &mut Chain,
    mut reason: String,
) -> Result<ChainFlaw, StoreError> {
    while let Some(id) = EventId::new(chain.events()) {
        match event_with_id(log, id).await {
            Ok(Some(event)) => {
                if let Err(flaw) = chain.verify_next(&event) {
                    return Ok(flaw);
                }
            }
            Ok(None) => break,
            Err(StoreError::Corrupt { reason: own, .. }) => {
                reason = own;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    let event = chain.events();
    Ok(ChainFlaw { event, reason })
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
        assert_eq!((verified.events, verified.damage), (4, vec![]));
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
