//! The lines between boxes.

use super::{GUTTER, PlacedBox};
use crate::model::{
    application_model::ApplicationModel,
    edge::{EdgeKind, ModelEdge},
};

/// A line from the right edge of a box to the left edge of another one.
#[derive(Debug)]
pub(crate) struct PlacedLine<'a> {
    pub(crate) edge: &'a ModelEdge,
    /// The begin, on the right edge of the first box.
    pub(crate) from: (u32, u32),
    /// The point at which the line leaves its row.
    pub(crate) bend: u32,
    /// The end, on the left edge of the second box.
    pub(crate) to: (u32, u32),
}

/// Returns the lines of all edges that lead to the right.
pub(super) fn place_lines<'a>(
    model: &'a ApplicationModel,
    boxes: &[PlacedBox<'a>],
) -> Vec<PlacedLine<'a>> {
    let drawn = |edge: &&ModelEdge| edge.kind != EdgeKind::Decides;
    let mut lines = Vec::new();
    for target in boxes {
        let edges = model.edges.iter().filter(drawn);
        let leading = edges.filter(|edge| edge.to == target.node.id);
        let mut incoming: Vec<_> = leading
            .filter_map(|edge| {
                let source = boxes.iter().find(|one| one.node.id == edge.from)?;
                (source.column < target.column).then_some((source, edge))
            })
            .collect();
        incoming.sort_by_key(|(source, edge)| (source.middle(), source.x, edge.kind));
        let parts = u32::try_from(incoming.len()).map_or(u32::MAX, |count| count + 1);
        for ((source, edge), part) in incoming.iter().zip(1_u32..) {
            let down = (target.height * part).checked_div(parts);
            let y = target.y + down.unwrap_or_default();
            lines.push(PlacedLine {
                edge,
                from: (source.right(), source.middle()),
                bend: target.x.saturating_sub(GUTTER).max(source.right()),
                to: (target.x, y),
            });
        }
    }
    lines
}
