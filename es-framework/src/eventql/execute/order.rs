//! Sorts rows, and keeps no more of them than are asked for.

use std::{cmp::Ordering, collections::BinaryHeap};

use futures_util::TryStreamExt as _;

use super::{Frame, Frames, Run};
use crate::eventql::{
    ast::{OrderKey, Statement},
    error::Fault,
    value::Value,
};

struct Sorted {
    keys: Vec<(Value, bool)>,
    /// Rows with the same keys stay in the order in which they came.
    index: usize,
    size: usize,
    frame: Frame,
}

/// The frames in the order of ORDER BY; only the first `needed` of them where that is known.
pub(super) async fn ordered(
    mut frames: Frames,
    statement: &Statement,
    run: &Run,
    needed: Option<usize>,
) -> Result<Vec<Frame>, Fault> {
    let mut heap = BinaryHeap::new();
    let mut index = 0_usize;
    while let Some(frame) = frames.try_next().await? {
        let keys = keys(&statement.order, statement, &frame, run)?;
        let of_keys = keys.iter().map(|(key, _)| key.size());
        let size = of_keys.fold(frame.size(), usize::saturating_add);
        index = index.saturating_add(1);
        heap.push(Sorted {
            keys,
            index,
            size,
            frame,
        });
        run.memory.hold(size)?;
        if needed.is_some_and(|needed| heap.len() > needed)
            && let Some(greatest) = heap.pop()
        {
            run.memory.release(greatest.size);
        }
    }
    let sorted = heap.into_sorted_vec();
    Ok(sorted.into_iter().map(|sorted| sorted.frame).collect())
}

fn keys(
    order: &[OrderKey],
    statement: &Statement,
    frame: &Frame,
    run: &Run,
) -> Result<Vec<(Value, bool)>, Fault> {
    let scope = run.scope(statement, frame);
    let key = |key: &OrderKey| Ok((scope.settled(&key.expr)?, key.descending));
    order.iter().map(key).collect()
}

impl Ord for Sorted {
    fn cmp(&self, other: &Self) -> Ordering {
        let mut keys = self.keys.iter().zip(&other.keys);
        let decided = keys.find_map(|((left, descending), (right, _))| {
            let order = left.cmp(right);
            let order = if *descending { order.reverse() } else { order };
            (order != Ordering::Equal).then_some(order)
        });
        decided.unwrap_or_else(|| self.index.cmp(&other.index))
    }
}

impl PartialOrd for Sorted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sorted {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Sorted {}
