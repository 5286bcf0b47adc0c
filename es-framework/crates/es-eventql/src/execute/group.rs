//! Groups rows and computes their aggregates.

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;

use super::{IntermediateRow, QueryRun, RowStream};
use crate::{
    ast::{Expr, ExprKind, Statement},
    evaluate::Accumulator,
    query_error::SpannedError,
    value::Value,
};

/// A group of rows with equal keys.
struct RowGroup {
    /// The first row of the group. Expressions outside aggregates have the same value in all rows.
    first: Vec<Value>,
    accumulators: Vec<Accumulator>,
}

/// Returns the groups that satisfy HAVING, in the order of their first rows. Without GROUP BY, all
/// rows form one group, even if there are none.
pub(super) async fn group_rows(
    mut frames: RowStream,
    statement: &Statement,
    run: &QueryRun,
) -> Result<Vec<IntermediateRow>, SpannedError> {
    let aggregates = statement.aggregates();
    let (mut places, mut groups) = (BTreeMap::new(), Vec::new());
    if statement.grouping.is_none() {
        places.insert(Vec::new(), 0);
        groups.push(RowGroup::new(Vec::new(), &aggregates));
    }
    while let Some(frame) = frames.try_next().await? {
        let key = key(statement, &frame, run)?;
        let place = match places.get(&key) {
            Some(place) => *place,
            None => {
                let size = key.iter().map(Value::size).fold(0, usize::saturating_add);
                let accumulators = aggregates.len().saturating_mul(size_of::<Accumulator>());
                run.budget.reserve(
                    frame
                        .size()
                        .saturating_add(size)
                        .saturating_add(accumulators),
                )?;
                places.insert(key, groups.len());
                groups.push(RowGroup::new(frame.row.clone(), &aggregates));
                groups.len().saturating_sub(1)
            }
        };
        if let Some(group) = groups.get_mut(place) {
            group.add(&frame, &aggregates, statement, run)?;
        }
    }
    let mut kept = Vec::with_capacity(groups.len());
    for group in groups {
        let frame = group.finish(&aggregates)?;
        let keep = match statement.having() {
            Some(having) => run
                .scope(statement, &frame)
                .evaluate_condition(having, "HAVING")?,
            None => true,
        };
        if keep {
            kept.push(frame);
        }
    }
    Ok(kept)
}

/// Returns the GROUP BY key of a row.
fn key(
    statement: &Statement,
    frame: &IntermediateRow,
    run: &QueryRun,
) -> Result<Vec<Value>, SpannedError> {
    let scope = run.scope(statement, frame);
    let keys = statement.group_keys().iter();
    keys.map(|key| scope.evaluate_and_decode(key)).collect()
}

impl RowGroup {
    fn new(first: Vec<Value>, aggregates: &[&Expr]) -> Self {
        let accumulator = |expr: &&Expr| match expr.kind {
            ExprKind::Aggregate(aggregate, _) => Some(Accumulator::new(aggregate)),
            _ => None,
        };
        Self {
            first,
            accumulators: aggregates.iter().filter_map(accumulator).collect(),
        }
    }

    /// Adds a row to the aggregates of the group.
    fn add(
        &mut self,
        frame: &IntermediateRow,
        aggregates: &[&Expr],
        statement: &Statement,
        run: &QueryRun,
    ) -> Result<(), SpannedError> {
        let scope = run.scope(statement, frame);
        for (accumulator, expr) in self.accumulators.iter_mut().zip(aggregates) {
            let argument = match &expr.kind {
                ExprKind::Aggregate(_, Some(argument)) => {
                    Some(scope.evaluate_and_decode(argument)?)
                }
                _ => None,
            };
            let grown = accumulator
                .add(argument)
                .map_err(|kind| SpannedError::new(expr.span, kind))?;
            run.budget.reserve(grown)?;
        }
        Ok(())
    }

    fn finish(self, aggregates: &[&Expr]) -> Result<IntermediateRow, SpannedError> {
        let mut values = Vec::with_capacity(aggregates.len());
        for (accumulator, expr) in self.accumulators.into_iter().zip(aggregates) {
            let value = accumulator
                .finish()
                .map_err(|kind| SpannedError::new(expr.span, kind))?;
            values.push((expr.span, value));
        }
        Ok(IntermediateRow {
            row: self.first,
            aggregates: values,
        })
    }
}
