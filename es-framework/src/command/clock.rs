//! The time that handlers decide by.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};

/// Tells handlers the time. A handler that asks the system itself cannot be tested.
///
/// ```
/// use es_framework::command::Clock;
///
/// let clock = Clock::at("2026-07-01T12:00:00Z".parse()?);
/// assert_eq!(clock.now().to_string(), "2026-07-01T12:00:00Z");
/// # Ok::<_, jiff::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Clock {
    /// The time of a clock that stands still; nothing where the system's counts.
    standing: Option<Arc<Mutex<Timestamp>>>,
}

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// A clock that stands still. Clones of it show the same time.
    #[must_use]
    pub fn at(time: Timestamp) -> Self {
        let standing = Some(Arc::new(Mutex::new(time)));
        Self { standing }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match &self.standing {
            None => Timestamp::now(),
            Some(time) => *time.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Puts a clock that stands still to another time. The system's clock stays as it is.
    pub fn set(&self, time: Timestamp) {
        if let Some(standing) = &self.standing {
            *standing.lock().unwrap_or_else(PoisonError::into_inner) = time;
        }
    }

    /// Puts a clock that stands still forward, at most to the end of time. The system's clock stays
    /// as it is.
    pub fn advance(&self, by: SignedDuration) {
        if let Some(standing) = &self.standing {
            let mut time = standing.lock().unwrap_or_else(PoisonError::into_inner);
            *time = time.saturating_add(by).unwrap_or(Timestamp::MAX);
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.standing {
            None => f.write_str("Clock(system)"),
            Some(_) => write!(f, "Clock({})", self.now()),
        }
    }
}
