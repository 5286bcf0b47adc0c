//! The edges of a model: connections between declarations.

use serde::{Deserialize, Serialize};

/// A connection from one node to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelEdge {
    /// The id of the node that comes first.
    pub from: String,
    /// The id of the node that follows.
    pub to: String,
    /// The meaning of the connection.
    pub kind: EdgeKind,
}

/// The meaning of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EdgeKind {
    /// The handler of a command returns an event.
    Records,
    /// A state is rebuilt from an event.
    Evolves,
    /// The handler of a command decides on a state.
    Decides,
    /// A read model is projected from an event.
    Projects,
    /// A query reads a read model.
    Answers,
    /// An event starts a reaction.
    Starts,
    /// An event cancels a reaction's deadline.
    Cancels,
    /// A reaction sends a command.
    Sends,
    /// An event of an earlier version is read as an event of today.
    Upcasts,
    /// A publication publishes a public event after a stored event.
    Publishes,
}

impl EdgeKind {
    /// Returns the verb between the two nodes.
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::Evolves => "changes",
            Self::Decides => "decides",
            Self::Projects => "is projected to",
            Self::Answers => "answers",
            Self::Starts => "starts",
            Self::Cancels => "cancels",
            Self::Sends => "sends",
            Self::Upcasts => "is read as",
            Self::Publishes => "is published as",
        }
    }
}
