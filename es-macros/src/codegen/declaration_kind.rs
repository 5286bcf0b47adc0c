//! The kinds of declared structs and enums.

/// The kind of the declared item, which error messages mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeclarationKind {
    Command,
    Event,
    PublicEvent,
    ReadModel,
    Query,
    State,
    /// A part of the others, and of what clients send and read.
    Value,
}

impl DeclarationKind {
    /// Returns the kind with its article: `a command`.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Command => "a command",
            Self::Event => "an event",
            Self::PublicEvent => "a public event",
            Self::ReadModel => "a read model",
            Self::Query => "a query",
            Self::State => "a state",
            Self::Value => "a value",
        }
    }
}
