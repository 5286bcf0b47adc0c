//! The model as a Mermaid flowchart, for pages that render it, such as those of GitHub.

use std::fmt::Write as _;

use super::{
    application_model::ApplicationModel,
    edge::EdgeKind,
    node::{ModelNode, NodeKind},
};

/// The colours of Event Modeling, in the middle between light and dark pages.
const CLASSES: &str = "\
    classDef command fill:#2f6fd0,stroke:#1d4f9e,color:#ffffff
    classDef event fill:#f0a030,stroke:#a86208,color:#1f1300
    classDef state fill:#3f9a52,stroke:#27692f,color:#ffffff
    classDef readModel fill:#3f9a52,stroke:#27692f,color:#ffffff
    classDef query fill:#e8f2ea,stroke:#3f9a52,color:#14301a
    classDef reaction fill:#7c4dbd,stroke:#542f88,color:#ffffff
    classDef publicEvent fill:#fff3e0,stroke:#a86208,color:#1f1300
    classDef finding stroke:#d1242f,stroke-width:3px,stroke-dasharray:5 4
";

impl ApplicationModel {
    /// Returns the model as a Mermaid flowchart.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        for (subject, lane) in self.subjects.iter().zip(1_u32..) {
            text.push_str(&format!(
                "    subgraph lane{lane}[\"{}\"]\n",
                escape(subject)
            ));
            text.push_str("        direction LR\n");
            let is_here = |node: &&ModelNode| node.subject.as_ref() == Some(subject);
            for node in self.nodes.iter().filter(is_here) {
                text.push_str(&format!("        {}\n", self.box_of(node)));
            }
            text.push_str("    end\n");
        }
        for node in self.nodes.iter().filter(|node| node.subject.is_none()) {
            text.push_str(&format!("    {}\n", self.box_of(node)));
        }
        for edge in &self.edges {
            let (Some(from), Some(to)) = (self.number(&edge.from), self.number(&edge.to)) else {
                continue;
            };
            let arrow = match edge.kind {
                EdgeKind::Decides => "-. decides .->".to_owned(),
                EdgeKind::Cancels => "-. cancels .-x".to_owned(),
                EdgeKind::Starts | EdgeKind::Sends | EdgeKind::Upcasts | EdgeKind::Publishes => {
                    format!("-- {} -->", edge.kind.verb())
                }
                EdgeKind::Records | EdgeKind::Evolves | EdgeKind::Projects | EdgeKind::Answers => {
                    "-->".to_owned()
                }
            };
            text.push_str(&format!("    n{from} {arrow} n{to}\n"));
        }
        for finding in &self.findings {
            if let Some(number) = self.number(&finding.node) {
                text.push_str(&format!("    class n{number} finding\n"));
            }
        }
        text.push_str(CLASSES);
        text
    }

    fn number(&self, id: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == id)
    }

    /// Returns the box of a node, with its class.
    fn box_of(&self, node: &ModelNode) -> String {
        let number = self.number(&node.id).unwrap_or_default();
        let mut label = escape(node.short_name());
        let role = node.role_text().map(|role| format!("role {role}"));
        let finding = self.finding(&node.id);
        let mark = finding.map(|finding| finding.kind.mark().to_owned());
        let rules = node.rules.iter().map(|rule| rule.label.clone());
        let lines = node.route.iter().cloned().chain(role).chain(rules);
        for line in lines.chain(mark) {
            let _ = write!(label, "<br/>{}", escape(&line));
        }
        format!("n{number}[\"{label}\"]:::{}", class(node.kind))
    }
}

const fn class(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::ReadModel => "readModel",
        NodeKind::PublicEvent => "publicEvent",
        other => other.id(),
    }
}

/// Escapes a text for a quoted label. Mermaid reads `#` as the begin of an entity.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '#' | '"' | '<' | '>' | '&' | '`' => {
                let _ = write!(escaped, "#{};", u32::from(character));
            }
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
