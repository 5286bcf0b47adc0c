//! What comes with a command beside its values.

use sha2::{Digest as _, Sha256};

use crate::event::{EventId, Metadata, TraceContext};

/// A command as it came in.
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
    /// The JSON text.
    pub body: &'a [u8],
    /// Names and values that the path holds.
    pub path_parameters: &'a [(&'a str, &'a str)],
    /// What comes with it.
    pub context: &'a CommandContext,
}

/// What comes with a command beside its values.
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
    /// What goes into the metadata of its events.
    pub metadata: Metadata,
    /// The trace that its events belong to.
    pub trace: Option<TraceContext>,
    /// What its sender last saw of its subject.
    pub expected: Option<ExpectedVersion>,
    /// The name by which its sender knows this attempt to have it carried out.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// What the sender of a command expects of its subject (`If-Match`).
///
/// ```
/// use es_framework::{command::ExpectedVersion, event::EventId};
///
/// let expected = ExpectedVersion::LastEvent(vec![EventId::FIRST]);
/// assert!(expected.holds(Some(EventId::FIRST)));
/// assert!(!expected.holds(None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// That something happened to it, whatever it was.
    Any,
    /// That its last event is one of these.
    LastEvent(Vec<EventId>),
}

impl ExpectedVersion {
    /// Whether it is so, given the subject's last event.
    #[must_use]
    pub fn holds(&self, latest: Option<EventId>) -> bool {
        match self {
            Self::Any => latest.is_some(),
            Self::LastEvent(ids) => latest.is_some_and(|latest| ids.contains(&latest)),
        }
    }
}

/// A name that a sender gives to one attempt to have a command carried out: sent again, it is not
/// carried out again.
///
/// ```
/// use es_framework::command::IdempotencyKey;
///
/// assert!("8e03978e-40d5-43e8-bc93-6894a57f9324".parse::<IdempotencyKey>().is_ok());
/// assert!("".parse::<IdempotencyKey>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(Box<str>);

/// A text that is no idempotency key.
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
    /// The key of a command that a reaction sends. The blank in front keeps it apart from those of
    /// clients, which have none.
    pub(crate) fn of_reaction(name: &str) -> Self {
        Self(format!(" {name}").into())
    }

    /// A text of fixed length that can stand in a subject.
    pub(super) fn digest(&self) -> String {
        hex(Sha256::digest(self.0.as_bytes()).as_slice())
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
    /// Tells requests apart that share a key.
    pub(super) fn digest(&self, command: &str) -> String {
        let mut hasher = Sha256::new();
        let path = self.path_parameters.iter();
        let parts = path.flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
        for part in [command.as_bytes()].into_iter().chain(parts) {
            hasher.update(part);
            hasher.update([0]);
        }
        hasher.update(self.body);
        hex(hasher.finalize().as_slice())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
