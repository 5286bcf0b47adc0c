//! The model as plain data: nodes, the edges between them, one lane for each subject, and findings.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    edge::ModelEdge,
    finding::{FindingKind, ModelFinding, find_unreachable_commands},
    node::ModelNode,
};

/// The model of an application. Its JSON is documented in `docs/src/how-to/model.md`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationModel {
    /// The name of the application.
    pub application: String,
    /// The lanes: templates of subjects, such as `/books/{id}`, in alphabetical order.
    pub subjects: Vec<String>,
    /// The declarations, by kind and in a stable order.
    pub nodes: Vec<ModelNode>,
    /// The connections between declarations, in a stable order.
    pub edges: Vec<ModelEdge>,
    /// The gaps in the model.
    pub findings: Vec<ModelFinding>,
}

impl ApplicationModel {
    /// Returns a model with these findings, and one for each command that nobody can send.
    #[must_use]
    pub fn new(
        application: &str,
        subjects: Vec<String>,
        nodes: Vec<ModelNode>,
        edges: Vec<ModelEdge>,
        findings: Vec<ModelFinding>,
    ) -> Self {
        let mut model = Self {
            application: application.to_owned(),
            subjects,
            nodes,
            edges,
            findings,
        };
        model.find_unreachable_commands(None);
        model
    }

    /// Returns the model with the findings for callers that can have no other roles than these.
    #[must_use]
    pub fn with_findings_for(mut self, roles: &BTreeSet<String>) -> Self {
        self.find_unreachable_commands(Some(roles));
        self
    }

    /// Finds the commands that nobody can send. The findings stand in the order of the nodes.
    fn find_unreachable_commands(&mut self, roles: Option<&BTreeSet<String>>) {
        let is_other = |one: &ModelFinding| one.kind != FindingKind::UnreachableCommand;
        self.findings.retain(is_other);
        let unreachable = find_unreachable_commands(&self.nodes, &self.edges, roles);
        self.findings.extend(unreachable);
        let nodes = &self.nodes;
        let position = |one: &ModelFinding| nodes.iter().position(|node| node.id == one.node);
        self.findings
            .sort_by_key(|one| position(one).unwrap_or(usize::MAX));
    }

    /// Returns the node with this id.
    #[must_use]
    pub fn node(&self, id: &str) -> Option<&ModelNode> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// Returns the finding about this node.
    #[must_use]
    pub fn finding(&self, id: &str) -> Option<&ModelFinding> {
        self.findings.iter().find(|finding| finding.node == id)
    }
}
