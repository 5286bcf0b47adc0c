//! Runs a query as a chain of streams: rows, WHERE, groups, order, projection.

mod group;
mod order;
mod rows;

use std::{
    collections::BTreeSet,
    future,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, BoxStream},
};
use jiff::Timestamp;
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};

use super::{
    Query, Rows,
    ast::{Expr, Statement},
    error::{ErrorKind, Fault, QueryError},
    evaluate::Scope,
    limits::{Limits, Memory},
    plan::{Plan, plan},
    source::Source,
    token::Span,
    value::Value,
};

/// What all parts of one run share.
struct Run {
    source: Arc<dyn Source>,
    memory: Memory,
    now: Timestamp,
    /// Whether the source is told what it may leave out.
    with_hints: bool,
}

/// A row on its way: a value for each FROM clause, and those of the aggregates once there are.
#[derive(Debug, Clone, Default)]
struct Frame {
    row: Vec<Value>,
    aggregates: Vec<(Span, Value)>,
}

type Values = BoxStream<'static, Result<Value, Fault>>;
type Frames = BoxStream<'static, Result<Frame, Fault>>;

pub(super) fn run(
    query: &Query,
    source: Arc<dyn Source>,
    limits: Limits,
    with_hints: bool,
) -> Rows {
    let run = Arc::new(Run {
        source,
        memory: Memory::new(limits.memory),
        now: Timestamp::now(),
        with_hints,
    });
    let tokens = Arc::clone(&query.tokens);
    let values = statement(Arc::clone(&query.statement), run);
    let rows = values.map(move |value| {
        value
            .and_then(|value| written(&value))
            .map_err(|fault| fault.locate(&tokens))
    });
    in_time(rows.boxed(), limits)
}

fn written(value: &Value) -> Result<Box<RawValue>, Fault> {
    serde_json::value::to_raw_value(value).map_err(|error| {
        let reason = error.to_string().into();
        ErrorKind::Data { reason }.into()
    })
}

/// Ends the rows with the first error, and with one of its own when the time is up.
fn in_time(rows: Rows, limits: Limits) -> Rows {
    let limit = limits.time;
    let deadline = Instant::now().checked_add(limit);
    let late = move || QueryError::nowhere(ErrorKind::Time { limit });
    stream::unfold(Some(rows), move |rows| async move {
        let mut rows = rows?;
        let next = match deadline {
            Some(deadline) if Instant::now() >= deadline => Some(Err(late())),
            Some(deadline) => match timeout_at(deadline, rows.next()).await {
                Ok(next) => next,
                Err(_) => Some(Err(late())),
            },
            None => rows.next().await,
        };
        let row = next?;
        let rest = row.is_ok().then_some(rows);
        Some((row, rest))
    })
    .boxed()
}

/// The projected values of a statement.
fn statement(statement: Arc<Statement>, run: Arc<Run>) -> Values {
    stream::once(start(statement, run)).try_flatten().boxed()
}

async fn start(statement: Arc<Statement>, run: Arc<Run>) -> Result<Values, Fault> {
    let skip = run.count(statement.skip.as_ref(), "SKIP")?.unwrap_or(0);
    let top = run.count(statement.top.as_ref(), "TOP")?;
    let Plan { hint, sorted } = if run.with_hints {
        plan(&statement)
    } else {
        Plan::default()
    };
    let mut frames = rows::rows(&statement, &run, hint);
    if statement.condition.is_some() {
        frames = filtered(frames, Arc::clone(&statement), Arc::clone(&run));
    }
    if statement.is_grouped() {
        let groups = group::groups(frames, &statement, &run).await?;
        frames = stream::iter(groups.into_iter().map(Ok)).boxed();
    }
    if !statement.order.is_empty() && !sorted {
        let needed = top.filter(|_| !statement.distinct);
        let needed = needed.map(|top| top.saturating_add(skip));
        let ordered = order::ordered(frames, &statement, &run, needed).await?;
        frames = stream::iter(ordered.into_iter().map(Ok)).boxed();
    }
    Ok(projected(
        frames,
        statement,
        run,
        skip,
        top.unwrap_or(usize::MAX),
    ))
}

fn filtered(frames: Frames, statement: Arc<Statement>, run: Arc<Run>) -> Frames {
    let keep = move |frame: Frame| {
        let Some(condition) = &statement.condition else {
            return Ok(Some(frame));
        };
        let kept = run.scope(&statement, &frame).is_true(condition, "WHERE")?;
        Ok(kept.then_some(frame))
    };
    frames
        .try_filter_map(move |frame| future::ready(keep(frame)))
        .boxed()
}

fn projected(
    frames: Frames,
    statement: Arc<Statement>,
    run: Arc<Run>,
    skip: usize,
    top: usize,
) -> Values {
    let distinct = statement.distinct;
    let project = {
        let run = Arc::clone(&run);
        move |frame: Frame| {
            run.scope(&statement, &frame)
                .evaluate(&statement.projection)
        }
    };
    if !distinct {
        // What is skipped is not projected either.
        let frames = skipped(frames, skip).take(top);
        return frames.map(move |frame| frame.and_then(&project)).boxed();
    }
    let seen = Mutex::new(BTreeSet::new());
    let first_of_its_kind = move |value: Value| {
        let key = value.clone().settled()?;
        let size = key.size();
        // Nothing panics while the lock is held.
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.insert(key) {
            return Ok(None);
        }
        run.memory.hold(size)?;
        Ok(Some(value))
    };
    let values = frames
        .map(move |frame| frame.and_then(&project))
        .try_filter_map(move |value| future::ready(first_of_its_kind(value)));
    skipped(values.boxed(), skip).take(top).boxed()
}

/// Leaves out the first rows, but no error among them.
fn skipped<T: Send + 'static>(
    rows: BoxStream<'static, Result<T, Fault>>,
    skip: usize,
) -> BoxStream<'static, Result<T, Fault>> {
    let mut left = skip;
    rows.try_filter_map(move |row| {
        let skipped = left > 0;
        left = left.saturating_sub(1);
        future::ready(Ok((!skipped).then_some(row)))
    })
    .boxed()
}

impl Run {
    fn scope<'a>(&self, statement: &'a Statement, frame: &'a Frame) -> Scope<'a> {
        Scope {
            sources: &statement.sources,
            row: &frame.row,
            aggregates: &frame.aggregates,
            now: self.now,
        }
    }

    /// The number of rows that SKIP or TOP says.
    fn count(&self, expr: Option<&Expr>, clause: &'static str) -> Result<Option<usize>, Fault> {
        let Some(expr) = expr else {
            return Ok(None);
        };
        let scope = Scope {
            sources: &[],
            row: &[],
            aggregates: &[],
            now: self.now,
        };
        let value = scope.settled(expr)?;
        if let Value::Int(count) = value
            && count >= 0
        {
            return Ok(Some(usize::try_from(count).unwrap_or(usize::MAX)));
        }
        let found = super::evaluate::shown(&value);
        Err(Fault::at(expr.span, ErrorKind::NotACount { clause, found }))
    }
}

impl Frame {
    /// An estimate of the bytes that it takes.
    fn size(&self) -> usize {
        let aggregates = self.aggregates.iter().map(|(_, value)| value);
        let values = self.row.iter().chain(aggregates);
        values.map(Value::size).fold(64, usize::saturating_add)
    }
}
