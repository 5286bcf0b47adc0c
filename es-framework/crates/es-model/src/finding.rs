//! The findings of a model: events that nothing consumes, and commands that nobody can send.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    edge::{EdgeKind, ModelEdge},
    node::{ModelNode, NodeKind},
};

/// Something that is missing in the model.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelFinding {
    /// The kind of finding.
    pub kind: FindingKind,
    /// The id of the node.
    pub node: String,
    /// The name of the node.
    pub name: String,
    /// A sentence without its full stop.
    pub message: String,
    /// The source file of the declaration, relative to its package.
    pub file: String,
    /// The line in the file.
    pub line: u32,
}

/// The kind of a finding.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FindingKind {
    /// No state, read model or reaction consumes the event.
    UnconsumedEvent,
    /// The command has no route and no reaction sends it, or no caller can have its role.
    UnreachableCommand,
}

impl FindingKind {
    /// Returns the words that mark a node in a picture.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::UnconsumedEvent => "nothing consumes this",
            Self::UnreachableCommand => "nobody can send this",
        }
    }
}

/// Returns the findings of all nodes. Without a list of roles, every role can be had.
pub(crate) fn find_in(
    nodes: &[ModelNode],
    edges: &[ModelEdge],
    roles: Option<&BTreeSet<String>>,
) -> Vec<ModelFinding> {
    let find = |node: &ModelNode| {
        let (kind, message) = match node.kind {
            NodeKind::Event => (FindingKind::UnconsumedEvent, unconsumed(node, edges)?),
            NodeKind::Command => (
                FindingKind::UnreachableCommand,
                unreachable(node, edges, roles)?,
            ),
            NodeKind::State | NodeKind::ReadModel | NodeKind::Query | NodeKind::Reaction => {
                return None;
            }
        };
        Some(ModelFinding {
            kind,
            node: node.id.clone(),
            name: node.name.clone(),
            message,
            file: node.file.clone(),
            line: node.line,
        })
    };
    nodes.iter().filter_map(find).collect()
}

fn unconsumed(node: &ModelNode, edges: &[ModelEdge]) -> Option<String> {
    let is_consumed = node.informational || edges.iter().any(|edge| edge.from == node.id);
    let name = &node.name;
    (!is_consumed).then(|| format!("no state, read model or reaction consumes the event {name}"))
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
