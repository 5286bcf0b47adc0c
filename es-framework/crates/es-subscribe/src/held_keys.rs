//! The keys that a subscriber holds: each waits at an event that it cannot handle, while all others go on.

use std::{collections::BTreeMap, sync::Arc};

use es_event::{EventId, EventSelection, EventType, PoisonEvent, RecordedEvent, Subject};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The most keys that one component holds. So many failures are a defect of the code and not of single events, so the
/// component stops at the next one. The limit also bounds the memory: a key takes up to 2 KiB.
#[doc(hidden)]
pub const MAX_HELD_KEYS: usize = 1_000;

/// The number of keys that a group names.
const SHOWN_KEYS: usize = 20;

/// The longest text of a key that operators see, in bytes.
const MAX_KEY_TEXT: usize = 500;

/// The kind of a held key.
///
/// ```
/// use es_subscribe::HeldKeyKind;
///
/// assert_eq!(HeldKeyKind::from_name(HeldKeyKind::Row.name()), Some(HeldKeyKind::Row));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeldKeyKind {
    /// A row of a read model.
    Row,
    /// A subject: of a reaction, of a read model whose rows are events, or of an event that does not tell its row.
    Subject,
}

/// The identity of a held key. It has the same short length for each key, so a database can always store it.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldKeyId(String);

/// A key that is held at an event, with all later events of the key.
///
/// ```
/// use es_event::{EventId, PoisonEvent};
/// use es_subscribe::{HeldKey, HeldKeyKind};
/// use jiff::Timestamp;
///
/// let poison = PoisonEvent::unreadable(EventId::FIRST, "its payload has no title");
/// let held = HeldKey::new(HeldKeyKind::Row, "42", poison, Timestamp::UNIX_EPOCH);
/// assert_eq!((held.key.as_str(), held.events), ("42", 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldKey {
    /// The identity of the key.
    #[doc(hidden)]
    pub id: HeldKeyId,
    /// The kind of the key.
    pub kind: HeldKeyKind,
    /// The key of the row, or the subject, as text.
    pub key: String,
    /// The first event that is not handled, and the reason.
    pub poison: PoisonEvent,
    /// The number of events that the key waits with.
    pub events: u64,
    /// The time of the first of these events.
    pub first: Timestamp,
    /// The time of the last of these events.
    pub last: Timestamp,
    /// The time of the next attempt that the component makes on its own, if it makes one.
    pub next_attempt: Option<Timestamp>,
}

/// The keys that a component holds at one moment. Clones share them.
///
/// ```
/// use es_subscribe::HeldKeys;
///
/// assert!(HeldKeys::default().is_empty());
/// assert!(HeldKeys::default().group_by_failure().is_empty());
/// ```
#[derive(Debug, Clone, Default)]
pub struct HeldKeys(Arc<BTreeMap<HeldKeyId, HeldKey>>);

/// The held keys whose events fail alike.
///
/// ```
/// use es_event::{EventId, PoisonEvent};
/// use es_subscribe::{HeldKey, HeldKeyKind, HeldKeys};
/// use jiff::Timestamp;
///
/// let poison = PoisonEvent::unreadable(EventId::FIRST, "its payload has no title");
/// let held = ["1", "2"].map(|key| HeldKey::new(HeldKeyKind::Row, key, poison.clone(), Timestamp::UNIX_EPOCH));
/// let groups = HeldKeys::from_iter(held).group_by_failure();
/// assert_eq!((groups.len(), groups[0].keys, groups[0].events), (1, 2, 2));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(description = "Keys that wait at events which fail alike.")]
pub struct HeldKeyGroup {
    /// Events that fail alike have the same fingerprint.
    pub fingerprint: String,
    /// The error of the first event that failed so.
    pub error: String,
    /// The type of this event. Null if the event cannot be read.
    #[schemars(with = "Option<String>")]
    pub r#type: Option<EventType>,
    /// The first event that failed so.
    #[schemars(with = "String")]
    pub event: EventId,
    /// The subject of this event.
    #[schemars(with = "Option<String>")]
    pub subject: Option<Subject>,
    /// The number of keys.
    pub keys: usize,
    /// The first of them, in the order of the events at which they are held: keys of rows, or subjects.
    pub some_keys: Vec<String>,
    /// The number of events that these keys wait with.
    pub events: u64,
    /// The time of the first of these events.
    pub first: Timestamp,
    /// The time of the last of these events.
    pub last: Timestamp,
    /// The number of keys that are retried without an operator, as after a failed call.
    pub waiting: usize,
    /// The time of the first of these attempts.
    pub next_attempt: Option<Timestamp>,
}

impl HeldKeyKind {
    /// Returns the name that databases store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Subject => "subject",
        }
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Row, Self::Subject]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

impl HeldKeyId {
    /// Returns the identity of a key.
    #[must_use]
    pub fn new(kind: HeldKeyKind, key: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(kind.name());
        hash.update([0]);
        hash.update(key);
        Self(es_event::hex(hash.finalize().iter().take(16)))
    }

    /// Returns the identity that a database stores.
    #[must_use]
    pub const fn from_text(text: String) -> Self {
        Self(text)
    }

    /// Returns the identity as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl HeldKey {
    /// Holds a key at an event that has this time.
    #[must_use]
    pub fn new(kind: HeldKeyKind, key: &str, poison: PoisonEvent, time: Timestamp) -> Self {
        // No text of PostgreSQL contains the NUL character.
        let text = |text: &str| text.replace('\0', "\u{fffd}");
        let end = key.floor_char_boundary(MAX_KEY_TEXT);
        let shown = match key.split_at(end) {
            (_, "") => text(key),
            (begin, _) => format!("{}…", text(begin)),
        };
        Self {
            id: HeldKeyId::new(kind, key),
            kind,
            key: shown,
            poison: PoisonEvent {
                reason: text(&poison.reason),
                ..poison
            },
            events: 1,
            first: time,
            last: time,
            next_attempt: None,
        }
    }

    /// Counts a later event of the key.
    #[doc(hidden)]
    pub fn add_event(&mut self, event: &RecordedEvent) {
        self.events = self.events.saturating_add(1);
        self.last = event.time.timestamp().unwrap_or(self.last);
    }

    /// Returns true if a command of an operator is about the key. Without a selection, it is about each key.
    #[doc(hidden)]
    #[must_use]
    pub fn is_selected(&self, selection: Option<&EventSelection>) -> bool {
        match selection {
            None => true,
            Some(EventSelection::Key { key }) => self.key == *key || self.id.as_str() == key,
            Some(selection) => selection.covers(&self.poison),
        }
    }
}

impl HeldKeys {
    /// Returns the number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if no key is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the keys in the order of their identities.
    pub fn iter(&self) -> impl Iterator<Item = &HeldKey> {
        self.0.values()
    }

    /// Returns the held key with this identity.
    #[doc(hidden)]
    #[must_use]
    pub fn find(&self, id: &HeldKeyId) -> Option<&HeldKey> {
        self.0.get(id)
    }

    /// Returns true if a subject is held.
    #[doc(hidden)]
    #[must_use]
    pub fn has_subject(&self, subject: &Subject) -> bool {
        let id = || HeldKeyId::new(HeldKeyKind::Subject, subject.as_str());
        !self.is_empty() && self.0.contains_key(&id())
    }

    /// Returns the keys after some were held or counted, and others were released.
    #[doc(hidden)]
    #[must_use]
    pub fn with_changes(&self, held: &[HeldKey], released: &[HeldKeyId]) -> Self {
        if held.is_empty() && released.is_empty() {
            return self.clone();
        }
        let mut keys = (*self.0).clone();
        for id in released {
            keys.remove(id);
        }
        keys.extend(held.iter().map(|held| (held.id.clone(), held.clone())));
        Self(Arc::new(keys))
    }

    /// Returns true if nothing was held, counted or released between two moments.
    #[doc(hidden)]
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.is_empty() && other.is_empty()
    }

    /// Returns the groups of keys whose events fail alike, the largest group first.
    #[must_use]
    pub fn group_by_failure(&self) -> Vec<HeldKeyGroup> {
        let mut held: Vec<&HeldKey> = self.iter().collect();
        held.sort_by_key(|held| (held.poison.id, &held.key));
        let mut groups: BTreeMap<String, HeldKeyGroup> = BTreeMap::new();
        for one in held {
            let fingerprint = one.poison.fingerprint();
            let group = groups
                .entry(fingerprint)
                .or_insert_with_key(|fingerprint| HeldKeyGroup {
                    fingerprint: fingerprint.clone(),
                    error: one.poison.reason.clone(),
                    r#type: one.poison.event_type.clone(),
                    event: one.poison.id,
                    subject: one.poison.subject.clone(),
                    keys: 0,
                    some_keys: Vec::new(),
                    events: 0,
                    first: one.first,
                    last: one.last,
                    waiting: 0,
                    next_attempt: None,
                });
            group.keys = group.keys.saturating_add(1);
            if group.some_keys.len() < SHOWN_KEYS {
                group.some_keys.push(one.key.clone());
            }
            group.events = group.events.saturating_add(one.events);
            group.first = group.first.min(one.first);
            group.last = group.last.max(one.last);
            let is_waiting = usize::from(one.next_attempt.is_some());
            group.waiting = group.waiting.saturating_add(is_waiting);
            let attempts = [group.next_attempt, one.next_attempt];
            group.next_attempt = attempts.into_iter().flatten().min();
        }
        let mut largest_first: Vec<_> = groups.into_values().collect();
        largest_first.sort_by_key(|group| std::cmp::Reverse(group.keys));
        largest_first
    }
}

impl FromIterator<HeldKey> for HeldKeys {
    fn from_iter<T: IntoIterator<Item = HeldKey>>(held: T) -> Self {
        let keys = held.into_iter().map(|held| (held.id.clone(), held));
        Self(Arc::new(keys.collect()))
    }
}
