//! The columns of nodes. The steps of the flow (command, event, reaction) come first, in the order in which
//! they can happen; then what follows from all events: states, read models and public events; then queries.

use std::collections::BTreeMap;

use crate::model::{
    application_model::ApplicationModel,
    edge::{EdgeKind, ModelEdge},
    node::{ModelNode, NodeKind},
};

/// The column of each node.
#[derive(Debug)]
pub(crate) struct ColumnPlan {
    columns: BTreeMap<String, usize>,
    /// The column of states, read models and public events.
    views: usize,
}

impl ColumnPlan {
    pub(crate) fn from_model(model: &ApplicationModel) -> Self {
        let mut columns = flow_columns(model);
        let last = columns.values().max().copied();
        let views = last.map_or(0, |last| last + 1);
        for node in &model.nodes {
            let column = match node.kind {
                _ if is_earlier_version(node, model) => continue,
                NodeKind::Query => views + 1,
                NodeKind::State
                | NodeKind::ReadModel
                | NodeKind::Reaction
                | NodeKind::PublicEvent => views,
                NodeKind::Command | NodeKind::Event => continue,
            };
            columns.entry(node.id.clone()).or_insert(column);
        }
        Self { columns, views }
    }

    /// Returns the column of a node. An event that only earlier versions of the application recorded has none.
    pub(crate) fn find_column(&self, id: &str) -> Option<usize> {
        self.columns.get(id).copied()
    }

    /// Returns the column of states, read models and public events. The columns before belong to the flow.
    pub(crate) const fn views(&self) -> usize {
        self.views
    }

    /// Returns the number of columns.
    pub(crate) fn column_count(&self) -> usize {
        let last = self.columns.values().max();
        last.map_or(0, |last| last + 1)
    }

    /// Returns the title above a column of the diagram.
    pub(crate) fn column_title(&self, column: usize) -> &'static str {
        if column == self.views {
            return "States and read models";
        }
        if column > self.views {
            return "Queries";
        }
        // The columns of the flow repeat: a reaction sends commands, which record events.
        match column % 3 {
            0 => "Commands",
            1 => "Events",
            _ => "Reactions",
        }
    }

    /// Returns whether an edge leads to the left or stays in its column. The picture has words for it instead
    /// of a line.
    pub(crate) fn leads_back(&self, edge: &ModelEdge) -> bool {
        match (self.find_column(&edge.from), self.find_column(&edge.to)) {
            (Some(from), Some(to)) => to <= from,
            _ => false,
        }
    }
}

/// Returns whether an event is only read as an event of today.
pub(crate) fn is_earlier_version(node: &ModelNode, model: &ApplicationModel) -> bool {
    let mut edges = model.edges.iter();
    let is_upcast = model
        .edges
        .iter()
        .any(|edge| edge.from == node.id && edge.kind == EdgeKind::Upcasts);
    is_upcast && edges.all(|edge| edge.to != node.id || edge.kind == EdgeKind::Upcasts)
}

/// Returns the column of each command, of each event and of each reaction that sends commands. The column is
/// the smallest number of steps that lead there.
fn flow_columns(model: &ApplicationModel) -> BTreeMap<String, usize> {
    let mut columns = BTreeMap::new();
    let steps = |edge: &&ModelEdge| is_step(edge) && is_in_flow(&edge.to, model);
    let edges: Vec<_> = model.edges.iter().filter(steps).collect();
    let is_drawn =
        |node: &&ModelNode| is_in_flow(&node.id, model) && !is_earlier_version(node, model);
    let in_flow: Vec<_> = model.nodes.iter().filter(is_drawn).collect();
    let begins =
        |node: &&&ModelNode| node.route.is_some() || !edges.iter().any(|edge| edge.to == node.id);
    let mut next: Vec<_> = in_flow
        .iter()
        .filter(begins)
        .map(|node| first_column_of_node(node))
        .collect();
    loop {
        spread(&edges, &mut columns, next);
        // Commands and reactions that only lead to each other begin nowhere.
        match in_flow.iter().find(|node| !columns.contains_key(&node.id)) {
            Some(node) => next = vec![first_column_of_node(node)],
            None => return columns,
        }
    }
}

/// Returns a node with the first column of its kind.
fn first_column_of_node(node: &ModelNode) -> (usize, String) {
    let column = match node.kind {
        NodeKind::Event => 1,
        NodeKind::Reaction => 2,
        _ => 0,
    };
    (column, node.id.clone())
}

/// Sets the columns of nodes, and of those that follow from them.
fn spread(
    edges: &[&ModelEdge],
    columns: &mut BTreeMap<String, usize>,
    mut next: Vec<(usize, String)>,
) {
    while let Some(first) = next
        .iter()
        .enumerate()
        .min_by_key(|(_, (column, _))| *column)
    {
        let (column, id) = next.swap_remove(first.0);
        if columns.contains_key(&id) {
            continue;
        }
        for edge in edges.iter().filter(|edge| edge.from == id) {
            next.push((column + 1, edge.to.clone()));
        }
        columns.insert(id, column);
    }
}

/// Returns whether an edge is a step of the flow.
const fn is_step(edge: &ModelEdge) -> bool {
    matches!(
        edge.kind,
        EdgeKind::Records | EdgeKind::Starts | EdgeKind::Sends
    )
}

fn is_in_flow(id: &str, model: &ApplicationModel) -> bool {
    let sends = || {
        let mut edges = model.edges.iter();
        edges.any(|edge| edge.from == id && edge.kind == EdgeKind::Sends)
    };
    match model.node(id).map(|node| node.kind) {
        Some(NodeKind::Command | NodeKind::Event) => true,
        Some(NodeKind::Reaction) => sends(),
        _ => false,
    }
}
