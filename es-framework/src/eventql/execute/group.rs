//! Brings rows together into groups and computes their aggregates.

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;

use super::{Frame, Frames, Run};
use crate::eventql::{
    ast::{Expr, ExprKind, Statement},
    error::Fault,
    evaluate::Accumulator,
    value::Value,
};

struct Group {
    /// The row that came first; what is not aggregated is the same in all of them.
    first: Vec<Value>,
    accumulators: Vec<Accumulator>,
}

/// The groups that HAVING keeps, in the order of their first rows. Without GROUP BY everything, be
/// it nothing, is one group.
pub(super) async fn groups(
    mut frames: Frames,
    statement: &Statement,
    run: &Run,
) -> Result<Vec<Frame>, Fault> {
    let aggregates = statement.aggregates();
    let keys = statement
        .grouping
        .as_ref()
        .map(|grouping| grouping.keys.as_slice());
    let keys = keys.unwrap_or_default();
    let (mut places, mut groups) = (BTreeMap::new(), Vec::new());
    if statement.grouping.is_none() {
        places.insert(Vec::new(), 0);
        groups.push(Group::of(Vec::new(), &aggregates));
    }
    while let Some(frame) = frames.try_next().await? {
        let key = key(keys, statement, &frame, run)?;
        let place = match places.get(&key) {
            Some(place) => *place,
            None => {
                let size = key.iter().map(Value::size).fold(0, usize::saturating_add);
                let accumulators = aggregates.len().saturating_mul(size_of::<Accumulator>());
                run.memory.hold(
                    frame
                        .size()
                        .saturating_add(size)
                        .saturating_add(accumulators),
                )?;
                places.insert(key, groups.len());
                groups.push(Group::of(frame.row.clone(), &aggregates));
                groups.len().saturating_sub(1)
            }
        };
        if let Some(group) = groups.get_mut(place) {
            group.add(&frame, &aggregates, statement, run)?;
        }
    }
    let having = statement
        .grouping
        .as_ref()
        .and_then(|grouping| grouping.having.as_ref());
    let mut kept = Vec::with_capacity(groups.len());
    for group in groups {
        let frame = group.finish(&aggregates)?;
        let keep = match having {
            Some(having) => run.scope(statement, &frame).is_true(having, "HAVING")?,
            None => true,
        };
        if keep {
            kept.push(frame);
        }
    }
    Ok(kept)
}

fn key(
    keys: &[Expr],
    statement: &Statement,
    frame: &Frame,
    run: &Run,
) -> Result<Vec<Value>, Fault> {
    let scope = run.scope(statement, frame);
    keys.iter().map(|key| scope.settled(key)).collect()
}

impl Group {
    fn of(first: Vec<Value>, aggregates: &[&Expr]) -> Self {
        let accumulator = |expr: &&Expr| match expr.kind {
            ExprKind::Aggregate(aggregate, _) => Some(Accumulator::new(aggregate)),
            _ => None,
        };
        Self {
            first,
            accumulators: aggregates.iter().filter_map(accumulator).collect(),
        }
    }

    fn add(
        &mut self,
        frame: &Frame,
        aggregates: &[&Expr],
        statement: &Statement,
        run: &Run,
    ) -> Result<(), Fault> {
        let scope = run.scope(statement, frame);
        for (accumulator, expr) in self.accumulators.iter_mut().zip(aggregates) {
            let argument = match &expr.kind {
                ExprKind::Aggregate(_, Some(argument)) => Some(scope.settled(argument)?),
                _ => None,
            };
            let grown = accumulator
                .add(argument)
                .map_err(|kind| Fault::at(expr.span, kind))?;
            run.memory.hold(grown)?;
        }
        Ok(())
    }

    fn finish(self, aggregates: &[&Expr]) -> Result<Frame, Fault> {
        let mut values = Vec::with_capacity(aggregates.len());
        for (accumulator, expr) in self.accumulators.into_iter().zip(aggregates) {
            let value = accumulator
                .finish()
                .map_err(|kind| Fault::at(expr.span, kind))?;
            values.push((expr.span, value));
        }
        Ok(Frame {
            row: self.first,
            aggregates: values,
        })
    }
}
