//! The conditions that must hold at the moment of a write.

use es_event::{EventId, Subject};

/// A condition that is checked in the write's own transaction.
///
/// ```
/// use es_event::EventId;
/// use es_store::Precondition;
///
/// let pristine = Precondition::SubjectIsPristine("/books/42".parse()?);
/// assert!(pristine.holds(None));
/// assert!(!pristine.holds(Some(EventId::FIRST)));
/// # Ok::<_, es_event::InvalidSubject>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Precondition {
    /// The subject itself has no event; subjects below it do not count.
    SubjectIsPristine(Subject),
    /// The subject itself has at least one event.
    SubjectIsPopulated(Subject),
    /// The latest event of the subject itself has this id.
    SubjectIsOnEventId(Subject, EventId),
    /// Neither the subject nor any subject below it has an event.
    SubtreeIsPristine(Subject),
    /// The subject or a subject below it has an event.
    SubtreeIsPopulated(Subject),
    /// The latest event of the subject and all subjects below it has this id.
    SubtreeIsOnEventId(Subject, EventId),
    /// The latest event of the whole store has this id. With `None`, the store is empty. Used for
    /// decisions that depend on all events.
    StoreIsOnEventId(Option<EventId>),
}

impl Precondition {
    /// Returns the condition that the last event of a subject is still the one that was read.
    ///
    /// ```
    /// use es_store::Precondition;
    ///
    /// let unread = Precondition::subject_is_unchanged("/books/42".parse()?, None);
    /// assert!(matches!(unread, Precondition::SubjectIsPristine(_)));
    /// # Ok::<_, es_event::InvalidSubject>(())
    /// ```
    #[must_use]
    pub fn subject_is_unchanged(subject: Subject, latest: Option<EventId>) -> Self {
        match latest {
            Some(latest) => Self::SubjectIsOnEventId(subject, latest),
            None => Self::SubjectIsPristine(subject),
        }
    }

    /// Returns the subject of the condition, or `None` for the whole store.
    #[must_use]
    pub const fn subject(&self) -> Option<&Subject> {
        match self {
            Self::SubjectIsPristine(subject)
            | Self::SubjectIsPopulated(subject)
            | Self::SubjectIsOnEventId(subject, _)
            | Self::SubtreeIsPristine(subject)
            | Self::SubtreeIsPopulated(subject)
            | Self::SubtreeIsOnEventId(subject, _) => Some(subject),
            Self::StoreIsOnEventId(_) => None,
        }
    }

    /// Returns the scope: the events among which the condition looks for the latest one.
    #[must_use]
    pub const fn scope(&self) -> PreconditionScope<'_> {
        match self {
            Self::SubjectIsPristine(subject)
            | Self::SubjectIsPopulated(subject)
            | Self::SubjectIsOnEventId(subject, _) => PreconditionScope::Subject(subject),
            Self::SubtreeIsPristine(subject)
            | Self::SubtreeIsPopulated(subject)
            | Self::SubtreeIsOnEventId(subject, _) => PreconditionScope::Subtree(subject),
            Self::StoreIsOnEventId(_) => PreconditionScope::Store,
        }
    }

    /// Returns true if the condition holds for this latest event of its scope.
    #[must_use]
    pub fn holds(&self, latest: Option<EventId>) -> bool {
        match self {
            Self::SubjectIsPristine(_) | Self::SubtreeIsPristine(_) => latest.is_none(),
            Self::SubjectIsPopulated(_) | Self::SubtreeIsPopulated(_) => latest.is_some(),
            Self::SubjectIsOnEventId(_, id) | Self::SubtreeIsOnEventId(_, id) => {
                latest == Some(*id)
            }
            Self::StoreIsOnEventId(id) => latest == *id,
        }
    }
}

/// The events whose latest one decides about a precondition.
///
/// ```
/// use es_event::Subject;
/// use es_store::{Precondition, PreconditionScope};
///
/// let orders: Subject = "/orders/42".parse()?;
/// let pristine = Precondition::SubtreeIsPristine(orders.clone());
/// assert_eq!(pristine.scope(), PreconditionScope::Subtree(&orders));
/// # Ok::<_, es_event::InvalidSubject>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreconditionScope<'a> {
    /// The events of one subject, without those below it.
    Subject(&'a Subject),
    /// The events of a subject and of all subjects below it.
    Subtree(&'a Subject),
    /// All events.
    Store,
}

/// The error for a write whose precondition does not hold.
///
/// ```
/// use es_event::EventId;
/// use es_store::{Conflict, Precondition};
///
/// fn check(precondition: &Precondition, latest: Option<EventId>) -> Result<(), Conflict> {
///     precondition.holds(latest).then_some(()).ok_or(Conflict::at(0))
/// }
///
/// let pristine = Precondition::SubjectIsPristine("/books/42".parse()?);
/// assert_eq!(check(&pristine, Some(EventId::FIRST)), Err(Conflict::at(0)));
/// # Ok::<_, es_event::InvalidSubject>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error("state conflict: precondition failed")]
pub struct Conflict {
    /// The index of the first precondition that does not hold; `None` if the store does not name it.
    pub precondition: Option<usize>,
}

impl Conflict {
    /// Creates the error for the precondition with this index.
    #[must_use]
    pub const fn at(index: usize) -> Self {
        let precondition = Some(index);
        Self { precondition }
    }
}
