//! The rows of a lane: commands with their events, and reactions with what follows from them.

use std::collections::BTreeMap;

use super::{GAP, PlacedBox};
use crate::model::{
    application_model::ApplicationModel,
    edge::{EdgeKind, ModelEdge},
};

/// A row: at most one box in each column, and nothing to the right of an event.
type LaneRow<'a> = Vec<PlacedBox<'a>>;

/// Places the boxes of the flow, and returns them with the bottom of the last row.
pub(super) fn place_rows<'a>(
    model: &ApplicationModel,
    boxes: Vec<PlacedBox<'a>>,
    top: u32,
) -> (Vec<PlacedBox<'a>>, u32) {
    let mut rows: Vec<LaneRow<'a>> = Vec::new();
    for one in in_order_of_time(model, boxes) {
        let before = predecessor_row(model, &rows, &one);
        let follows = before.and_then(|index| rows.get_mut(index));
        match follows.filter(|row| has_place(model, row, &one)) {
            Some(row) => row.push(one),
            None => {
                let index = before.map_or(rows.len(), |before| end_of_group(&rows, before));
                rows.insert(index, vec![one]);
            }
        }
    }
    let mut y = top;
    for row in &mut rows {
        let height = row.iter().map(|one| one.height).max().unwrap_or_default();
        for one in row.iter_mut() {
            one.y = y + height.saturating_sub(one.height) / 2;
        }
        y += height + GAP;
    }
    let bottom = y.saturating_sub(GAP).max(top);
    (rows.into_iter().flatten().collect(), bottom)
}

/// Sorts by column. Among the commands, those that decide on no state come first: they create what others
/// need. Events have the order of the commands that record them.
fn in_order_of_time<'a>(
    model: &ApplicationModel,
    mut boxes: Vec<PlacedBox<'a>>,
) -> Vec<PlacedBox<'a>> {
    let order: BTreeMap<_, _> = boxes
        .iter()
        .map(|one| {
            let decides =
                |edge: &&ModelEdge| edge.kind == EdgeKind::Decides && edge.to == one.node.id;
            let count = model.edges.iter().filter(decides).count();
            let records =
                |edge: &&ModelEdge| edge.kind == EdgeKind::Records && edge.to == one.node.id;
            let commands = model.edges.iter().filter(records);
            let first = commands
                .filter_map(|edge| index_of(model, &edge.from))
                .min();
            (one.node.id.clone(), (count.min(1), first))
        })
        .collect();
    boxes.sort_by_key(|one| (one.column, order.get(&one.node.id).copied()));
    boxes
}

fn index_of(model: &ApplicationModel, id: &str) -> Option<usize> {
    model.nodes.iter().position(|node| node.id == id)
}

/// Returns the row of the first box that leads to this one.
fn predecessor_row(
    model: &ApplicationModel,
    rows: &[LaneRow<'_>],
    one: &PlacedBox<'_>,
) -> Option<usize> {
    rows.iter().position(|row| {
        row.iter().any(|before| {
            let column = before.column + 1;
            column == one.column && leads_to(model, before, one)
        })
    })
}

fn leads_to(model: &ApplicationModel, before: &PlacedBox<'_>, one: &PlacedBox<'_>) -> bool {
    let mut edges = model.edges.iter();
    edges.any(|edge| {
        edge.from == before.node.id && edge.to == one.node.id && edge.kind != EdgeKind::Cancels
    })
}

/// Returns whether the row ends with a box that leads to this one and is no event, whose line needs the rest
/// of the row.
fn has_place(model: &ApplicationModel, row: &LaneRow<'_>, one: &PlacedBox<'_>) -> bool {
    row.last().is_some_and(|last| {
        last.column + 1 == one.column && last.column % 3 != 1 && leads_to(model, last, one)
    })
}

/// Returns the index after a row and the rows that follow from it: those that begin further to the right.
fn end_of_group(rows: &[LaneRow<'_>], before: usize) -> usize {
    let begin = |row: &LaneRow<'_>| row.first().map(|first| first.column).unwrap_or_default();
    let own = rows.get(before).map(begin).unwrap_or_default();
    let after = before + 1;
    let rest = rows.iter().skip(after);
    after + rest.take_while(|row| begin(row) > own).count()
}
