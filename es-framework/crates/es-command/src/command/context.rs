//! The request of a command: its values, metadata, trace and conditions.

use sha2::{Digest as _, Sha256};

use es_event::{Caller, EventId, Metadata, TraceContext};

/// A command as a client or a reaction sends it.
///
/// ```
/// use es_framework::command::{CommandContext, CommandRequest};
///
/// // POST /books/42/borrow
/// let request = CommandRequest {
///     body: br#"{"reader":"ada"}"#,
///     path_parameters: &[("id", "42")],
///     context: &CommandContext::default(),
/// };
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CommandRequest<'a> {
    /// The body: the command as JSON.
    pub body: &'a [u8],
    /// The names and values of the path parameters.
    pub path_parameters: &'a [(&'a str, &'a str)],
    /// The caller, metadata, trace and conditions of the request.
    pub context: &'a CommandContext,
}

/// The additions of a sender to its command: who they are, the metadata and the trace of the events, and conditions.
///
/// ```
/// use es_framework::command::CommandContext;
///
/// let context = CommandContext {
///     metadata: [("x-staff-id", "ada")].into_iter().collect(),
///     idempotency_key: Some("8e03978e-40d5-43e8-bc93-6894a57f9324".parse()?),
///     ..CommandContext::default()
/// };
/// assert!(context.expected.is_none());
/// # Ok::<_, es_framework::command::InvalidIdempotencyKey>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandContext {
    /// The sender.
    pub caller: Caller,
    /// The metadata of the events.
    pub metadata: Metadata,
    /// The trace context of the events.
    pub trace: Option<TraceContext>,
    /// The version of the subject that the sender expects.
    pub expected: Option<ExpectedVersion>,
    /// The key under which the sender may repeat the command safely.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// The version of a subject that the sender of a command expects (`If-Match`).
///
/// ```
/// use es_framework::{command::{ExpectedVersion, SeenVersion}, event::EventId};
///
/// let [first, second] = [EventId::FIRST, EventId::new(1).unwrap()];
/// let expected = ExpectedVersion::OneOf(vec![SeenVersion::LastEvent(first)]);
/// assert!(expected.is_met_by(Some(first), Some(second)));
/// assert!(!expected.is_met_by(Some(second), Some(second)));
/// assert!(!expected.is_met_by(None, Some(second)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// The subject has at least one event.
    Any,
    /// The subject is still in one of these versions, which the sender has seen.
    OneOf(Vec<SeenVersion>),
}

/// A version of a subject that the sender of a command has seen.
///
/// ```
/// use es_framework::{command::{ExpectedVersion, SeenVersion}, event::EventId};
///
/// let [second, third] = [1, 2].map(|id| EventId::new(id).unwrap());
/// let expected = ExpectedVersion::OneOf(vec![SeenVersion::Position(second)]);
/// assert!(expected.is_met_by(Some(EventId::FIRST), Some(third)));
/// assert!(!expected.is_met_by(Some(third), Some(third)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenVersion {
    /// The last event of the subject was this one.
    LastEvent(EventId),
    /// The sender saw the result of a query that contains all events up to this one.
    Position(EventId),
}

impl ExpectedVersion {
    /// Returns whether a subject with this last event meets the expectation. `newest` is the newest event of the
    /// store. A position after it comes from other events, such as those that a restored backup lacks.
    #[must_use]
    pub fn is_met_by(&self, latest: Option<EventId>, newest: Option<EventId>) -> bool {
        let Some(latest) = latest else {
            return false;
        };
        match self {
            Self::Any => true,
            Self::OneOf(seen) => seen.iter().any(|seen| match *seen {
                SeenVersion::LastEvent(id) => latest == id,
                SeenVersion::Position(position) => latest <= position && Some(position) <= newest,
            }),
        }
    }

    /// Returns whether the newest event of the store matters.
    pub(super) fn has_position(&self) -> bool {
        let is_position = |seen: &SeenVersion| matches!(seen, SeenVersion::Position(_));
        matches!(self, Self::OneOf(seen) if seen.iter().any(is_position))
    }
}

/// A key that makes a command safe to repeat: it is handled once, and a repetition gets the same
/// outcome.
///
/// ```
/// use es_framework::command::IdempotencyKey;
///
/// assert!("8e03978e-40d5-43e8-bc93-6894a57f9324".parse::<IdempotencyKey>().is_ok());
/// assert!("".parse::<IdempotencyKey>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(Box<str>);

/// The error for a text that is not an idempotency key.
///
/// ```
/// use es_framework::command::{IdempotencyKey, InvalidIdempotencyKey};
///
/// assert_eq!("two words".parse::<IdempotencyKey>(), Err(InvalidIdempotencyKey));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an idempotency key is 1 to 255 visible ASCII characters")]
pub struct InvalidIdempotencyKey;

impl IdempotencyKey {
    /// Returns the key of a command that a reaction sends. It begins with a space, which keys of
    /// clients cannot contain.
    pub(crate) fn for_reaction(name: &str) -> Self {
        Self(format!(" {name}").into())
    }

    /// Returns the key of one caller. Other callers may use the same text, and none of them learns the
    /// outcome of another one's command.
    ///
    /// ```
    /// use es_framework::command::IdempotencyKey;
    ///
    /// let key: IdempotencyKey = "8e03978e".parse()?;
    /// assert_ne!(key.clone().scoped_to_caller("ada"), key.scoped_to_caller("bob"));
    /// # Ok::<_, es_framework::command::InvalidIdempotencyKey>(())
    /// ```
    #[must_use]
    pub fn scoped_to_caller(self, caller: &str) -> Self {
        // Keys contain no space, so no other key and caller have the same text.
        Self(format!("{} {caller}", self.0).into())
    }

    /// Returns the key of a line of a request with many commands: `K-7` for the seventh line under the key `K`.
    ///
    /// ```
    /// use es_framework::command::IdempotencyKey;
    ///
    /// let key: IdempotencyKey = "8e03978e".parse()?;
    /// assert_eq!(key.for_line(7), "8e03978e-7".parse()?);
    /// # Ok::<_, es_framework::command::InvalidIdempotencyKey>(())
    /// ```
    #[must_use]
    pub fn for_line(&self, line: u64) -> Self {
        Self(format!("{}-{line}", self.0).into())
    }

    /// Returns the SHA-256 digest, which is valid in a subject.
    pub(super) fn digest_for_subject(&self) -> String {
        es_event::hex(&Sha256::digest(self.0.as_bytes()))
    }
}

impl std::str::FromStr for IdempotencyKey {
    type Err = InvalidIdempotencyKey;

    fn from_str(text: &str) -> Result<Self, InvalidIdempotencyKey> {
        let fits =
            (1..=255).contains(&text.len()) && text.bytes().all(|one| one.is_ascii_graphic());
        if fits {
            Ok(Self(text.into()))
        } else {
            Err(InvalidIdempotencyKey)
        }
    }
}

impl CommandRequest<'_> {
    /// Returns the SHA-256 digest of the whole request, which tells requests with the same key apart.
    pub(super) fn fingerprint(&self, command: &str) -> String {
        let mut hasher = Sha256::new();
        let path = self.path_parameters.iter();
        let parts = path.flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
        for part in [command.as_bytes()].into_iter().chain(parts) {
            hasher.update(part);
            hasher.update([0]);
        }
        hasher.update(self.body);
        es_event::hex(&hasher.finalize())
    }
}
