//! The lock file with the schema of every event.

use std::{collections::BTreeMap, fs, io, path::Path};

use es_event::{EventDescriptor, UpcasterDescriptor, Upcasters};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    breaking_change::{BreakingChange, DataLoss},
    canonical::canonicalize,
    compatibility::find_losses,
};

/// The version of the file format.
const FORM: u32 = 1;
/// The note for readers of the file.
const NOTE: &str = "The JSON schemas of the stored events. A test compares them with the declarations, and writes them with SCHEMA_LOCK=update.";

/// The schemas of all events, by event type.
///
/// ```
/// use es_framework::{event::{EventDescriptor, Upcasters}, prelude::*, schema_lock::SchemaLock};
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {
///     title: String,
/// }
///
/// let events = [EventDescriptor::of::<BookPurchasedEvent>()];
/// let lock = SchemaLock::from_events(&events);
/// assert_eq!(lock.len(), 1);
/// assert!(lock.compare(&events, &Upcasters::default()).is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SchemaLock {
    note: String,
    form: u32,
    events: BTreeMap<String, Value>,
}

/// The difference between the declared events and a lock.
///
/// ```
/// use es_framework::{event::{EventDescriptor, Upcasters}, prelude::*, schema_lock::SchemaLock};
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {
///     title: String,
/// }
///
/// let events = [EventDescriptor::of::<BookPurchasedEvent>()];
/// let difference = SchemaLock::from_events(&[]).compare(&events, &Upcasters::default());
/// assert_eq!(difference.added, ["com.example.library.BookPurchasedEvent"]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LockDifference {
    /// Changes that can make stored events unreadable or lose their data.
    pub breaking_changes: Vec<BreakingChange>,
    /// Declared events that the lock does not contain.
    pub added: Vec<&'static str>,
    /// Events whose schema differs from the lock by changes that are plainly compatible.
    pub changed: Vec<&'static str>,
    /// Events in the lock that are no longer declared.
    pub removed: Vec<String>,
}

/// The error for a lock file that cannot be used.
///
/// ```
/// use std::path::Path;
///
/// use es_framework::schema_lock::{SchemaLock, LockFileError};
///
/// let error = SchemaLock::read(Path::new("nowhere/events.lock.json")).unwrap_err();
/// assert!(matches!(error, LockFileError::Missing(_)));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum LockFileError {
    /// The file does not exist.
    #[error("there is no {0}: write it with `SCHEMA_LOCK=update cargo test`, and commit it")]
    Missing(String),
    /// The file cannot be read or written.
    #[error("{file}: {reason}")]
    File {
        /// The path of the file.
        file: String,
        /// The error of the operating system.
        reason: io::Error,
    },
    /// The file does not contain a schema lock.
    #[error(
        "{file} is no lock of event schemas: {reason}. Restore it from version control; what it held cannot be found out from the code"
    )]
    Malformed {
        /// The path of the file.
        file: String,
        /// The error of the JSON parser.
        reason: serde_json::Error,
    },
    /// A later version of the framework wrote the file.
    #[error(
        "{file} has the form {found}, and this version of the framework knows {FORM}: upgrade it"
    )]
    Form {
        /// The path of the file.
        file: String,
        /// The version of the file format.
        found: u32,
    },
}

impl SchemaLock {
    /// Creates the lock of these events.
    #[must_use]
    pub fn from_events(events: &[EventDescriptor]) -> Self {
        let schema = |event: &EventDescriptor| {
            let schema = canonicalize((event.schema)().as_value());
            (event.event_type.to_owned(), schema)
        };
        Self {
            note: NOTE.to_owned(),
            form: FORM,
            events: events.iter().map(schema).collect(),
        }
    }

    /// Reads a lock file.
    ///
    /// # Errors
    /// Fails if the file does not exist or does not contain a lock.
    pub fn read(file: &Path) -> Result<Self, LockFileError> {
        let name = || file.display().to_string();
        let text = fs::read_to_string(file).map_err(|reason| match reason.kind() {
            io::ErrorKind::NotFound => LockFileError::Missing(name()),
            _ => LockFileError::File {
                file: name(),
                reason,
            },
        })?;
        let lock: Self =
            serde_json::from_str(&text).map_err(|reason| LockFileError::Malformed {
                file: name(),
                reason,
            })?;
        match lock.form {
            FORM => Ok(lock),
            found => Err(LockFileError::Form {
                file: name(),
                found,
            }),
        }
    }

    /// Writes the lock file.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), LockFileError> {
        fs::write(file, self.to_text()).map_err(|reason| LockFileError::File {
            file: file.display().to_string(),
            reason,
        })
    }

    /// Returns the contents of the file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns true if the lock contains no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Compares the declared events with the lock.
    #[must_use]
    pub fn compare(&self, events: &[EventDescriptor], upcasters: &Upcasters) -> LockDifference {
        let today = Self::from_events(events);
        let declared: BTreeMap<_, _> = events.iter().map(|one| (one.event_type, one)).collect();
        let mut difference = LockDifference {
            breaking_changes: vec![],
            added: vec![],
            changed: vec![],
            removed: vec![],
        };
        for (event_type, locked) in &self.events {
            match declared.get(event_type.as_str()) {
                None => {
                    difference.removed.push(event_type.clone());
                    // An upcaster that was registered by hand reads the event even if the event is
                    // not declared.
                    if upcasters.get(event_type).is_none() {
                        difference
                            .breaking_changes
                            .push(self.orphaned(event_type, &today, events));
                    }
                }
                Some(event) => {
                    let is_upcast = upcasters.get(event_type).is_some();
                    let schema = today.events.get(event_type).unwrap_or(&Value::Null);
                    let found = compare_event(locked, schema, event, is_upcast);
                    if found.is_empty() && schema != locked {
                        difference.changed.push(event.event_type);
                    }
                    difference.breaking_changes.extend(found);
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

    /// Describes an event that is no longer declared, and its likely successor.
    fn orphaned(
        &self,
        event_type: &str,
        today: &Self,
        events: &[EventDescriptor],
    ) -> BreakingChange {
        let locked = self.events.get(event_type);
        let successor = events.iter().find(|event| {
            !self.events.contains_key(event.event_type)
                && today.events.get(event.event_type) == locked
        });
        let quoted = format!("\"{event_type}\":");
        let line = self
            .to_text()
            .lines()
            .position(|line| line.trim_start().starts_with(&quoted));
        BreakingChange::Removed {
            event_type: event_type.to_owned(),
            line: line.unwrap_or_default().saturating_add(1),
            successor: successor.map(|event| (event.event_type, event.declaration)),
        }
    }
}

/// Compares an event with its locked schema. An upcaster may drop data, but it has to be able to read the event.
fn compare_event(
    locked: &Value,
    today: &Value,
    event: &EventDescriptor,
    is_upcast: bool,
) -> Vec<BreakingChange> {
    let members = |schema: &Value| {
        let members = schema.get("properties").and_then(Value::as_object);
        members.cloned().unwrap_or_default()
    };
    let stored = members(locked);
    let names = members(today).into_iter().map(|(name, _)| name);
    let new_members: Vec<_> = names.filter(|name| !stored.contains_key(name)).collect();
    find_losses(locked, today)
        .into_iter()
        .filter(|loss| !is_upcast || !matches!(loss, DataLoss::Lost { .. }))
        .map(|loss| BreakingChange::Loss {
            event_type: event.event_type,
            declaration: event.declaration,
            loss,
            new_members: new_members.clone(),
        })
        .collect()
}

impl LockDifference {
    /// Returns true if lock and declarations are equal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.breaking_changes.is_empty()
            && self.added.is_empty()
            && self.changed.is_empty()
            && self.removed.is_empty()
    }
}

/// Returns the events and upcasters that the macros registered in these packages.
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
