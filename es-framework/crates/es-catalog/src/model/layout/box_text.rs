//! The lines of text in a box, and the size that they need.

use crate::model::{
    application_model::ApplicationModel,
    edge::{EdgeKind, ModelEdge},
    layout::columns::ColumnPlan,
    node::{ModelNode, NodeKind},
};

/// The longest line, in characters.
const MAX_LENGTH: usize = 40;
/// Space between the left edge of a box and its text.
pub(crate) const PADDING: u32 = 11;
/// Height of the title with the space above it.
pub(crate) const TITLE_HEIGHT: u32 = 23;
/// Height of a line below the title.
pub(crate) const LINE_HEIGHT: u32 = 15;
/// Space below the last line.
const FOOT: u32 = 9;

/// The text of a box.
#[derive(Debug, Clone)]
pub(crate) struct BoxText {
    pub(crate) title: String,
    pub(crate) lines: Vec<BoxLine>,
}

/// A line below the title.
#[derive(Debug, Clone)]
pub(crate) struct BoxLine {
    pub(crate) text: String,
    pub(crate) kind: BoxLineKind,
}

/// The look of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BoxLineKind {
    /// A method and a path.
    Route,
    /// A remark.
    Remark,
    /// A finding.
    Mark,
}

impl BoxText {
    pub(crate) fn from_node(node: &ModelNode, model: &ApplicationModel, plan: &ColumnPlan) -> Self {
        let mut lines = Vec::new();
        let mut add = |kind, text: &str| {
            let text = shorten(text);
            lines.push(BoxLine { text, kind });
        };
        if let Some(route) = &node.route {
            add(BoxLineKind::Route, route);
        }
        match node.kind {
            NodeKind::State => add(BoxLineKind::Remark, "state"),
            NodeKind::ReadModel => add(BoxLineKind::Remark, "read model"),
            NodeKind::Reaction => add(BoxLineKind::Remark, "reaction"),
            NodeKind::PublicEvent => add(BoxLineKind::Remark, "public event"),
            NodeKind::Command if node.route.is_none() => add(BoxLineKind::Remark, "internal"),
            NodeKind::Command | NodeKind::Event | NodeKind::Query => {}
        }
        if let Some(role) = node.role_text() {
            add(BoxLineKind::Remark, &format!("role {role}"));
        }
        for rule in &node.rules {
            add(BoxLineKind::Remark, &rule.label);
        }
        let decides = |edge: &&ModelEdge| edge.kind == EdgeKind::Decides && edge.to == node.id;
        let edges = model.edges.iter().filter(decides);
        let decided = edges.filter_map(|edge| model.node(&edge.from));
        let states: Vec<_> = decided.map(ModelNode::short_name).collect();
        if !states.is_empty() {
            add(
                BoxLineKind::Remark,
                &format!("decides on {}", states.join(", ")),
            );
        }
        for edge in &model.edges {
            let follows = model.node(&edge.to);
            if let Some(follows) = follows.filter(|_| edge.from == node.id && plan.leads_back(edge))
                && edge.kind != EdgeKind::Decides
            {
                let text = format!("{} {}", edge.kind.verb(), follows.short_name());
                add(BoxLineKind::Remark, &text);
            }
        }
        if let Some(finding) = model.finding(&node.id) {
            add(BoxLineKind::Mark, finding.kind.mark());
        }
        Self {
            title: shorten(node.short_name()),
            lines,
        }
    }

    /// Returns the width of the box in pixels, estimated from the number of characters.
    pub(crate) fn width(&self) -> u32 {
        let title = tenths(&self.title, 88);
        let lines = self.lines.iter().map(|line| match line.kind {
            BoxLineKind::Route => tenths(&line.text, 66),
            BoxLineKind::Remark | BoxLineKind::Mark => tenths(&line.text, 64),
        });
        let widest = lines.chain([title]).max().unwrap_or_default();
        widest + PADDING * 2
    }

    /// Returns the height of the box in pixels.
    pub(crate) fn height(&self) -> u32 {
        let count = u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
        TITLE_HEIGHT + count * LINE_HEIGHT + FOOT
    }
}

/// Returns the width of a text whose characters have this width in tenths of a pixel.
fn tenths(text: &str, character: u32) -> u32 {
    let count = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    count * character / 10
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= MAX_LENGTH {
        return text.to_owned();
    }
    let short: String = text.chars().take(MAX_LENGTH.saturating_sub(1)).collect();
    format!("{short}…")
}
