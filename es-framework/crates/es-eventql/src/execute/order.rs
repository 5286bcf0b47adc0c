//! Sorts rows and retains only as many as the query needs.

use std::{cmp::Ordering, collections::BinaryHeap};

use futures_util::TryStreamExt as _;

use super::{IntermediateRow, QueryRun, RowStream};
use crate::{
    ast::{OrderKey, Statement},
    query_error::SpannedError,
    value::Value,
};

/// A row with its sort keys.
struct SortEntry {
    keys: Vec<(Value, bool)>,
    /// The position in the input, which keeps rows with equal keys in their order.
    index: usize,
    size: usize,
    frame: IntermediateRow,
}

/// Returns the rows in the order of ORDER BY, limited to the first `needed` rows if that number is
/// known.
pub(super) async fn sort_rows(
    mut frames: RowStream,
    statement: &Statement,
    run: &QueryRun,
    needed: Option<usize>,
) -> Result<Vec<IntermediateRow>, SpannedError> {
    let mut heap = BinaryHeap::new();
    let mut index = 0_usize;
    while let Some(frame) = frames.try_next().await? {
        let keys = keys(&statement.order, statement, &frame, run)?;
        let of_keys = keys.iter().map(|(key, _)| key.size());
        let size = of_keys.fold(frame.size(), usize::saturating_add);
        index = index.saturating_add(1);
        heap.push(SortEntry {
            keys,
            index,
            size,
            frame,
        });
        run.budget.reserve(size)?;
        if needed.is_some_and(|needed| heap.len() > needed)
            && let Some(greatest) = heap.pop()
        {
            run.budget.release_bytes(greatest.size);
        }
    }
    let sorted = heap.into_sorted_vec();
    Ok(sorted.into_iter().map(|sorted| sorted.frame).collect())
}

fn keys(
    order: &[OrderKey],
    statement: &Statement,
    frame: &IntermediateRow,
    run: &QueryRun,
) -> Result<Vec<(Value, bool)>, SpannedError> {
    let scope = run.scope(statement, frame);
    let key = |key: &OrderKey| Ok((scope.evaluate_and_decode(&key.expr)?, key.descending));
    order.iter().map(key).collect()
}

impl Ord for SortEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        let mut keys = self.keys.iter().zip(&other.keys);
        let decided = keys.find_map(|((left, descending), (right, _))| {
            let ascending = left.cmp(right);
            let order = if *descending {
                ascending.reverse()
            } else {
                ascending
            };
            (order != Ordering::Equal).then_some(order)
        });
        decided.unwrap_or_else(|| self.index.cmp(&other.index))
    }
}

impl PartialOrd for SortEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortEntry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SortEntry {}
