//! The model as plain data: nodes, the edges between them, one lane for each subject, and findings.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    edge::ModelEdge,
    finding::{ModelFinding, find_in},
    node::ModelNode,
};

/// The model of an application. Its JSON is documented in `docs/src/how-to/model.md`.
#[doc(hidden)]
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
    /// Returns the model with the findings for callers that can have no other roles than these.
    #[must_use]
    pub fn with_findings_for(self, roles: &BTreeSet<String>) -> Self {
        let findings = find_in(&self.nodes, &self.edges, Some(roles));
        Self { findings, ..self }
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
