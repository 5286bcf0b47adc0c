//! Damage of a log. Whoever finds it records it in the store's own tables, which closes the log for writing for every
//! instance. Nothing repairs itself: a verification that finds the log whole opens it again, or an operator accepts the damage.

use std::fmt;

/// The place of damage in a log.
///
/// ```
/// use es_store::DamagePlace;
///
/// assert_eq!(DamagePlace::Event(7).to_string(), "event 7");
/// assert_eq!(DamagePlace::Table("es_subtrees".into()).to_string(), "the table es_subtrees");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DamagePlace {
    /// The event with this id.
    Event(u64),
    /// A table that follows from the events, or holds the schemas or the end of the log.
    Table(String),
}

impl fmt::Display for DamagePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(id) => write!(f, "event {id}"),
            Self::Table(name) => write!(f, "the table {name}"),
        }
    }
}

/// Damage that somebody found in a log.
///
/// ```
/// use es_store::{DamagePlace, LogDamage};
///
/// let damage = LogDamage { place: DamagePlace::Event(7), reason: "it is missing".into() };
/// assert_eq!(damage.to_string(), "event 7 is damaged: it is missing");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogDamage {
    /// The place.
    pub place: DamagePlace,
    /// The defect, as a sentence.
    pub reason: String,
}

impl fmt::Display for LogDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is damaged: {}", self.place, self.reason)
    }
}

impl LogDamage {
    /// Describes damage of an event.
    #[doc(hidden)]
    pub fn of_event(id: u64, reason: impl Into<String>) -> Self {
        Self {
            place: DamagePlace::Event(id),
            reason: reason.into(),
        }
    }

    /// Describes damage of a table.
    #[doc(hidden)]
    pub fn of_table(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            place: DamagePlace::Table(name.into()),
            reason: reason.into(),
        }
    }

    /// Logs that this damage, which nobody knew before, has closed the log.
    #[doc(hidden)]
    pub fn log_closing(&self) {
        tracing::error!("{}", describe_closed_log(self));
    }
}

/// Says why a log takes no more events, and what to do.
pub fn describe_closed_log(damage: impl fmt::Display) -> String {
    format!(
        "the log is closed for writing, because {damage}. `event-store verify` says how to repair it, and opens a whole log again"
    )
}

/// The outcome of a verification, by which a store opens or closes its log.
#[derive(Debug, Clone)]
pub struct DamageSettlement {
    /// The places of the damage that was recorded before the verification began. Those that are not damaged any more are
    /// forgotten.
    pub known: Vec<String>,
    /// The damage that was found.
    pub found: Vec<LogDamage>,
    /// True if an operator accepts it: it does not keep the log closed.
    pub is_accepted: bool,
}

impl DamageSettlement {
    /// Returns the places that are repaired.
    #[must_use]
    pub fn repaired(&self) -> Vec<String> {
        let places = self.found.iter().map(|damage| damage.place.to_string());
        let found: Vec<_> = places.collect();
        let known = self.known.iter().cloned();
        known.filter(|place| !found.contains(place)).collect()
    }
}
