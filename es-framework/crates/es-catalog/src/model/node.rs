//! The nodes of a model: declarations.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A declaration of an application, as a node of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelNode {
    /// The kind and the name, such as `command:BorrowBookCommand`.
    pub id: String,
    /// The kind of declaration.
    pub kind: NodeKind,
    /// The name of the Rust type, the type of the event, or the table of the read model.
    pub name: String,
    /// The template of the subject whose lane the node stands in.
    pub subject: Option<String>,
    /// The first sentence of the documentation.
    pub summary: String,
    /// The documentation.
    pub documentation: String,
    /// The method and path of the route.
    pub route: Option<String>,
    /// The roles of which a caller needs one for the route.
    pub roles: Vec<String>,
    /// The rules about what belongs to the caller, about what the caller sees, about unique values, the
    /// schedules of a reaction, and the publications of a public event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ModelRule>,
    /// True for an event that is recorded for readers outside of the application.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub informational: bool,
    /// The Cargo package.
    pub package: String,
    /// The source file, relative to the package.
    pub file: String,
    /// The line in the file.
    pub line: u32,
    /// The JSON schema of a command, of an event's payload, of a read model's row or of a query's output.
    pub schema: Option<Value>,
}

/// A rule that the framework keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRule {
    /// The rule in a few words, such as `owner reader, or staff`.
    pub label: String,
    /// The rule in a sentence.
    pub sentence: String,
}

/// The kind of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeKind {
    /// A command.
    Command,
    /// An event.
    Event,
    /// A state that handlers decide on.
    State,
    /// A read model.
    ReadModel,
    /// A query.
    Query,
    /// A reaction.
    Reaction,
    /// A public event, which other systems receive.
    PublicEvent,
}

impl ModelNode {
    /// Returns the roles as one text, such as `reader or staff`, or `None` without roles.
    #[must_use]
    pub fn role_text(&self) -> Option<String> {
        (!self.roles.is_empty()).then(|| self.roles.join(" or "))
    }

    /// Returns the name without the package of an event type, such as `BookBorrowedEvent`.
    #[must_use]
    pub fn short_name(&self) -> &str {
        if !matches!(self.kind, NodeKind::Event | NodeKind::PublicEvent) {
            return &self.name;
        }
        let is_name = |part: &&str| part.starts_with(char::is_uppercase);
        let from = self.name.split('.').position(|part| is_name(&part));
        let skipped = self.name.split('.').take(from.unwrap_or_default());
        let length = skipped.map(|part| part.len() + 1).sum();
        self.name.get(length..).unwrap_or(&self.name)
    }
}

impl NodeKind {
    /// Returns the name of the kind in ids and CSS classes.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Event => "event",
            Self::State => "state",
            Self::ReadModel => "read-model",
            Self::Query => "query",
            Self::Reaction => "reaction",
            Self::PublicEvent => "public-event",
        }
    }

    /// Returns the name of the kind for readers.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Command => "Command",
            Self::Event => "Event",
            Self::State => "State",
            Self::ReadModel => "Read model",
            Self::Query => "Query",
            Self::Reaction => "Reaction",
            Self::PublicEvent => "Public event",
        }
    }
}
