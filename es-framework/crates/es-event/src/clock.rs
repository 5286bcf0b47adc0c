//! The clock that is injected into handlers and query handlers.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};

/// The source of the current time. A handler that reads the system time itself cannot be tested.
///
/// ```
/// use es_event::Clock;
///
/// let clock = Clock::at("2026-07-01T12:00:00Z".parse()?);
/// assert_eq!(clock.now().to_string(), "2026-07-01T12:00:00Z");
/// # Ok::<_, jiff::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Clock {
    /// The time of a fixed clock. The system clock has none.
    fixed: Option<Arc<Mutex<Timestamp>>>,
}

impl Clock {
    /// Returns the system clock.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// Returns a clock that is fixed at this time. Its clones share the time.
    #[must_use]
    pub fn at(time: Timestamp) -> Self {
        let fixed = Some(Arc::new(Mutex::new(time)));
        Self { fixed }
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match &self.fixed {
            None => Timestamp::now(),
            Some(time) => *time.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Sets the time of a fixed clock. Changes nothing for the system clock.
    pub fn set(&self, time: Timestamp) {
        if let Some(fixed) = &self.fixed {
            *fixed.lock().unwrap_or_else(PoisonError::into_inner) = time;
        }
    }

    /// Moves a fixed clock forward, at most to [`Timestamp::MAX`]. Does nothing to the system clock.
    pub fn advance(&self, by: SignedDuration) {
        if let Some(fixed) = &self.fixed {
            let mut time = fixed.lock().unwrap_or_else(PoisonError::into_inner);
            *time = time.saturating_add(by).unwrap_or(Timestamp::MAX);
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fixed {
            None => f.write_str("Clock(system)"),
            Some(_) => write!(f, "Clock({})", self.now()),
        }
    }
}
