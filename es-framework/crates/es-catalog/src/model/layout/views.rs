//! The columns of states, read models and queries. A box stands as near as possible to what leads to it.

use super::{GAP, PlacedBox};
use crate::model::{application_model::ApplicationModel, edge::EdgeKind};

/// Adds the boxes of a lane to those that are placed, and returns the bottom of the lowest.
pub(super) fn place_views<'a>(
    model: &ApplicationModel,
    placed: &mut Vec<PlacedBox<'a>>,
    boxes: Vec<PlacedBox<'a>>,
    first_column: usize,
    top: u32,
) -> u32 {
    let second_column = first_column + 1;
    let mut lowest = top;
    for column in [first_column, second_column] {
        let here = boxes.iter().filter(|one| one.column == column).cloned();
        let mut wanted: Vec<_> = here
            .map(|one| (wanted_y(model, placed, &one, top), one))
            .collect();
        wanted.sort_by_key(|(y, _)| *y);
        let stack = stack(wanted, top);
        lowest = stack.iter().map(PlacedBox::bottom).fold(lowest, u32::max);
        placed.extend(stack);
    }
    lowest
}

/// Places boxes below each other near their wanted places: moves each down until it is free, then all of them up by the
/// mean of these moves.
fn stack<'a>(wanted: Vec<(u32, PlacedBox<'a>)>, top: u32) -> Vec<PlacedBox<'a>> {
    let mut free = top;
    let mut moved = 0_u32;
    let mut stack = Vec::new();
    for (y, mut one) in wanted {
        one.y = y.max(free);
        moved += one.y.saturating_sub(y);
        free = one.bottom() + GAP;
        stack.push(one);
    }
    // All of them up by the mean distance, because each was only moved down.
    let count = u32::try_from(stack.len()).unwrap_or(u32::MAX);
    let up = moved.checked_div(count).unwrap_or_default();
    let room = stack.first().map_or(0, |first| first.y.saturating_sub(top));
    for one in &mut stack {
        one.y = one.y.saturating_sub(up.min(room));
    }
    stack
}

/// Returns the top of a box whose middle is in the middle of the boxes that lead to it.
fn wanted_y(
    model: &ApplicationModel,
    placed: &[PlacedBox<'_>],
    one: &PlacedBox<'_>,
    top: u32,
) -> u32 {
    let leads_here = |before: &&PlacedBox<'_>| {
        model.edges.iter().any(|edge| {
            edge.from == before.node.id && edge.to == one.node.id && edge.kind != EdgeKind::Decides
        })
    };
    let middles: Vec<_> = placed
        .iter()
        .filter(leads_here)
        .map(PlacedBox::middle)
        .collect();
    let sum: u32 = middles.iter().sum();
    let count = u32::try_from(middles.len()).unwrap_or(u32::MAX);
    let middle = sum.checked_div(count).unwrap_or(top);
    middle.saturating_sub(one.height / 2).max(top)
}
