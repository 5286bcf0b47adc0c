//! The findings of a model: probable mistakes in the declarations.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    edge::{EdgeKind, ModelEdge},
    node::{ModelNode, NodeKind},
};

/// Something that is missing in the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelFinding {
    /// The kind of finding.
    pub kind: FindingKind,
    /// The id of the node. Settings have no node.
    pub node: String,
    /// The name of the declaration.
    pub name: String,
    /// A sentence without its full stop.
    pub message: String,
    /// The source file of the declaration, relative to its package.
    pub file: String,
    /// The line in the file.
    pub line: u32,
}

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FindingKind {
    /// No state, read model, reaction or publication consumes the event.
    UnconsumedEvent,
    /// The command has no route and no reaction sends it, or no caller can have its role.
    UnreachableCommand,
    /// No state of the event's subject has a function for it.
    IgnoredEvent,
    /// The reaction leads to the event that starts it.
    ReactionLoop,
    /// No handler and no reaction takes the settings.
    UnusedSettings,
    /// No token has the role that the command or query requires.
    UnknownRole,
    /// No publication publishes the public event.
    UnpublishedEvent,
    /// The application does not serve the stored event of the publication.
    UnservedEvent,
}

impl FindingKind {
    /// Returns the words that mark a node in a picture.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::UnconsumedEvent => "nothing consumes this",
            Self::UnreachableCommand => "nobody can send this",
            Self::IgnoredEvent => "no state has a function for this",
            Self::ReactionLoop => "this can start itself for ever",
            Self::UnusedSettings => "nothing takes these",
            Self::UnknownRole => "no token has the role",
            Self::UnpublishedEvent => "nothing publishes this",
            Self::UnservedEvent => "its event is not served",
        }
    }
}

/// Returns a finding for each command that nobody can send. Without a list of roles, every role can be had.
pub(crate) fn find_unreachable_commands(
    nodes: &[ModelNode],
    edges: &[ModelEdge],
    roles: Option<&BTreeSet<String>>,
) -> Vec<ModelFinding> {
    let commands = nodes.iter().filter(|node| node.kind == NodeKind::Command);
    let find = |node: &ModelNode| {
        Some(ModelFinding {
            kind: FindingKind::UnreachableCommand,
            node: node.id.clone(),
            name: node.name.clone(),
            message: unreachable(node, edges, roles)?,
            file: node.file.clone(),
            line: node.line,
        })
    };
    commands.filter_map(find).collect()
}

fn unreachable(
    node: &ModelNode,
    edges: &[ModelEdge],
    roles: Option<&BTreeSet<String>>,
) -> Option<String> {
    let name = &node.name;
    let mut senders = edges.iter().filter(|edge| edge.kind == EdgeKind::Sends);
    if senders.any(|edge| edge.to == node.id) {
        return None;
    }
    if node.route.is_none() {
        return Some(format!(
            "the command {name} is internal, and no reaction sends it"
        ));
    }
    let is_held = |role: &String| roles.is_none_or(|roles| roles.contains(role));
    let role = node.role_text()?;
    let is_sendable = node.roles.iter().any(is_held);
    (!is_sendable).then(|| {
        format!("nobody can send the command {name}, because no caller can have the role {role}")
    })
}
