//! The file that holds the schema of every event.

use std::{collections::BTreeMap, fs, io, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{canonical::canonical, check, finding::Finding};
use crate::event::{EventDescriptor, UpcasterDescriptor, Upcasters};

/// The version of the file's form.
const FORM: u32 = 1;
/// What the file says to those who open it.
const NOTE: &str = "The JSON schemas of the stored events. Written by `schema lock`, committed, and compared by `schema check`.";

/// The schema of every event, by its type.
///
/// ```
/// use es_framework::{event::{EventDescriptor, Upcasters}, prelude::*, schema_lock::Lock};
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {
///     title: String,
/// }
///
/// let events = [EventDescriptor::of::<BookPurchasedEvent>()];
/// let lock = Lock::of(&events);
/// assert_eq!(lock.len(), 1);
/// assert!(lock.compare(&events, &Upcasters::default()).is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lock {
    note: String,
    form: u32,
    events: BTreeMap<String, Value>,
}

/// How the declarations differ from a lock.
///
/// ```
/// use es_framework::{event::{EventDescriptor, Upcasters}, prelude::*, schema_lock::Lock};
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {
///     title: String,
/// }
///
/// let events = [EventDescriptor::of::<BookPurchasedEvent>()];
/// let difference = Lock::of(&[]).compare(&events, &Upcasters::default());
/// assert_eq!(difference.added, ["com.example.library.BookPurchasedEvent"]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Changes that would orphan stored events.
    pub findings: Vec<Finding>,
    /// Events that the lock does not hold.
    pub added: Vec<&'static str>,
    /// Events that the lock holds with another schema, under which stored events stay readable.
    pub changed: Vec<&'static str>,
    /// Events that the lock holds and nobody declares any more.
    pub removed: Vec<String>,
}

/// Why a lock cannot be used.
///
/// ```
/// use std::path::Path;
///
/// use es_framework::schema_lock::{Lock, LockError};
///
/// let error = Lock::read(Path::new("nowhere/events.lock.json")).unwrap_err();
/// assert!(matches!(error, LockError::Missing(_)));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// There is none.
    #[error("there is no {0}: write it with the subcommand `schema lock`, and commit it")]
    Missing(String),
    /// The file cannot be read or written.
    #[error("{file}: {reason}")]
    File {
        /// The file.
        file: String,
        /// What stands against it.
        reason: io::Error,
    },
    /// It is no lock.
    #[error(
        "{file} is no lock of event schemas: {reason}. Restore it from version control; what it held cannot be found out from the code"
    )]
    Malformed {
        /// The file.
        file: String,
        /// What stands against it.
        reason: serde_json::Error,
    },
    /// A later version of the framework wrote it.
    #[error(
        "{file} has the form {found}, and this version of the framework knows {FORM}: upgrade it"
    )]
    Form {
        /// The file.
        file: String,
        /// Its form.
        found: u32,
    },
}

impl Lock {
    /// The lock of these events.
    #[must_use]
    pub fn of(events: &[EventDescriptor]) -> Self {
        let schema = |event: &EventDescriptor| {
            let schema = canonical((event.schema)().as_value());
            (event.event_type.to_owned(), schema)
        };
        Self {
            note: NOTE.to_owned(),
            form: FORM,
            events: events.iter().map(schema).collect(),
        }
    }

    /// Reads a lock.
    ///
    /// # Errors
    /// There is no such file, or it is no lock.
    pub fn read(file: &Path) -> Result<Self, LockError> {
        let name = || file.display().to_string();
        let text = fs::read_to_string(file).map_err(|reason| match reason.kind() {
            io::ErrorKind::NotFound => LockError::Missing(name()),
            _ => LockError::File {
                file: name(),
                reason,
            },
        })?;
        let lock: Self = serde_json::from_str(&text).map_err(|reason| LockError::Malformed {
            file: name(),
            reason,
        })?;
        match lock.form {
            FORM => Ok(lock),
            found => Err(LockError::Form {
                file: name(),
                found,
            }),
        }
    }

    /// Writes the lock.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), LockError> {
        fs::write(file, self.text()).map_err(|reason| LockError::File {
            file: file.display().to_string(),
            reason,
        })
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// How many events it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// How the declarations differ from it.
    #[must_use]
    pub fn compare(&self, events: &[EventDescriptor], upcasters: &Upcasters) -> Difference {
        let today = Self::of(events);
        let declared: BTreeMap<_, _> = events.iter().map(|one| (one.event_type, one)).collect();
        let mut difference = Difference {
            findings: vec![],
            added: vec![],
            changed: vec![],
            removed: vec![],
        };
        for (event_type, locked) in &self.events {
            match declared.get(event_type.as_str()) {
                None => {
                    difference.removed.push(event_type.clone());
                    // An upcaster that was registered by hand reads it, declared or not.
                    if upcasters.of(event_type).is_none() {
                        difference
                            .findings
                            .push(self.orphaned(event_type, &today, events));
                    }
                }
                Some(event) => {
                    let is_upcast = upcasters.of(event_type).is_some();
                    let found = check::event(locked, event, is_upcast);
                    if found.is_empty() && today.events.get(event_type) != Some(locked) {
                        difference.changed.push(event.event_type);
                    }
                    difference.findings.extend(found);
                }
            }
        }
        let is_new = |event: &&EventDescriptor| !self.events.contains_key(event.event_type);
        difference.added = events
            .iter()
            .filter(is_new)
            .map(|event| event.event_type)
            .collect();
        difference
    }

    /// What is said of an event that nobody declares, with a guess at what became of it.
    fn orphaned(&self, event_type: &str, today: &Self, events: &[EventDescriptor]) -> Finding {
        let locked = self.events.get(event_type);
        let successor = events.iter().find(|event| {
            !self.events.contains_key(event.event_type)
                && today.events.get(event.event_type) == locked
        });
        let quoted = format!("\"{event_type}\":");
        let line = self
            .text()
            .lines()
            .position(|line| line.trim_start().starts_with(&quoted));
        Finding::Removed {
            event_type: event_type.to_owned(),
            line: line.unwrap_or_default().saturating_add(1),
            successor: successor.map(|event| (event.event_type, event.declaration)),
        }
    }
}

impl Difference {
    /// Whether the lock says exactly what is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
            && self.added.is_empty()
            && self.changed.is_empty()
            && self.removed.is_empty()
    }
}

/// The events and upcasters of a package, as the macros registered them.
pub(super) fn declared(packages: &[&str]) -> (Vec<EventDescriptor>, Vec<UpcasterDescriptor>) {
    let is_test = |module: &str| module.split("::").any(|part| part == "tests");
    let events = inventory::iter::<EventDescriptor>()
        .filter(|event| packages.contains(&event.declaration.package))
        .filter(|event| !is_test(event.declaration.module))
        .copied();
    let upcasters = inventory::iter::<UpcasterDescriptor>()
        .filter(|upcaster| packages.contains(&upcaster.declaration.package))
        .copied();
    (events.collect(), upcasters.collect())
}
