//! Runs a query as a chain of streams: rows, WHERE, groups, order, projection.

mod from_clause;
mod group;
mod order;
mod row_thread;

use std::{
    collections::BTreeSet,
    future,
    sync::{Arc, Mutex, PoisonError},
};

use es_store::EventLog;
use futures_util::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, BoxStream},
};
use jiff::Timestamp;

use super::{
    EventQlQuery, QueryRows,
    ast::{Expr, Statement},
    evaluate::NameBindings,
    query_budget::{QueryBudget, RowBudget},
    query_error::{QueryErrorKind, SpannedError},
    query_limits::QueryLimits,
    read_plan::{ReadPlan, plan_read},
    token::TokenIndexRange,
    value::{Value, encode_row},
};

/// The data that all stages of one run share.
struct QueryRun {
    log: Arc<dyn EventLog>,
    budget: Arc<QueryBudget>,
    now: Timestamp,
    /// Enables read hints for the store. Tests disable them to compare the results.
    uses_hints: bool,
}

/// An intermediate row: a value for each FROM clause and, after grouping, for each aggregate.
#[derive(Debug, Clone, Default)]
struct IntermediateRow {
    row: Vec<Value>,
    aggregates: Vec<(TokenIndexRange, Value)>,
}

type ValueStream = BoxStream<'static, Result<Value, SpannedError>>;
type RowStream = BoxStream<'static, Result<IntermediateRow, SpannedError>>;

pub(super) fn run_query(
    query: &EventQlQuery,
    log: Arc<dyn EventLog>,
    limits: QueryLimits,
    uses_hints: bool,
) -> QueryRows {
    let run = Arc::new(QueryRun {
        log,
        budget: Arc::new(QueryBudget::new(limits)),
        now: Timestamp::now(),
        uses_hints,
    });
    let budget = Arc::clone(&run.budget);
    let tokens = Arc::clone(&query.tokens);
    let values = statement(Arc::clone(&query.statement), run);
    let rows = values.map(move |value| {
        let row = value.and_then(|value| Ok(encode_row(&value)?));
        row.map_err(|fault| fault.locate(&tokens))
    });
    row_thread::evaluate_on_thread(rows.boxed(), budget)
}

/// Returns the projected values of a statement.
fn statement(statement: Arc<Statement>, run: Arc<QueryRun>) -> ValueStream {
    stream::once(start(statement, run)).try_flatten().boxed()
}

/// Starts a statement, and returns the stream of its results.
async fn start(statement: Arc<Statement>, run: Arc<QueryRun>) -> Result<ValueStream, SpannedError> {
    let skip = run.count(statement.skip.as_ref(), "SKIP")?.unwrap_or(0);
    let top = run.count(statement.top.as_ref(), "TOP")?;
    let ReadPlan { hint, sorted } = if run.uses_hints {
        plan_read(&statement)
    } else {
        ReadPlan::default()
    };
    let mut frames = from_clause::stream_rows(&statement, &run, hint);
    if statement.condition.is_some() {
        frames = filter_rows(frames, Arc::clone(&statement), Arc::clone(&run));
    }
    if statement.is_grouped() {
        let groups = group::group_rows(frames, &statement, &run).await?;
        frames = stream::iter(groups.into_iter().map(Ok)).boxed();
    }
    if !statement.order.is_empty() && !sorted {
        let limit = top.filter(|_| !statement.distinct);
        let needed = limit.map(|top| top.saturating_add(skip));
        let ordered = order::sort_rows(frames, &statement, &run, needed).await?;
        frames = stream::iter(ordered.into_iter().map(Ok)).boxed();
    }
    Ok(project_rows(
        frames,
        statement,
        run,
        skip,
        top.unwrap_or(usize::MAX),
    ))
}

/// Keeps the rows that satisfy WHERE.
fn filter_rows(frames: RowStream, statement: Arc<Statement>, run: Arc<QueryRun>) -> RowStream {
    let keep = move |frame: IntermediateRow| {
        let Some(condition) = &statement.condition else {
            return Ok(Some(frame));
        };
        let kept = run
            .scope(&statement, &frame)
            .evaluate_condition(condition, "WHERE")?;
        Ok(kept.then_some(frame))
    };
    frames
        .try_filter_map(move |frame| future::ready(keep(frame)))
        .boxed()
}

fn project_rows(
    frames: RowStream,
    statement: Arc<Statement>,
    run: Arc<QueryRun>,
    skip: usize,
    top: usize,
) -> ValueStream {
    let distinct = statement.distinct;
    let project = {
        let run = Arc::clone(&run);
        move |frame: IntermediateRow| {
            run.scope(&statement, &frame)
                .evaluate(&statement.projection)
        }
    };
    if !distinct {
        // Skipped rows need no projection.
        let frames = skip_rows(frames, skip).take(top);
        return frames.map(move |frame| frame.and_then(&project)).boxed();
    }
    let seen = Mutex::new(BTreeSet::new());
    let first_of_its_kind = move |value: Value| {
        let key = value.clone().decode(&RowBudget::new(&run.budget))?;
        let size = key.size();
        // The lock cannot be poisoned in a harmful way: no code panics while it is held.
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.insert(key) {
            return Ok(None);
        }
        run.budget.reserve(size)?;
        Ok(Some(value))
    };
    let values = frames
        .map(move |frame| frame.and_then(&project))
        .try_filter_map(move |value| future::ready(first_of_its_kind(value)));
    skip_rows(values.boxed(), skip).take(top).boxed()
}

/// Skips the first rows, but returns every error.
fn skip_rows<T: Send + 'static>(
    rows: BoxStream<'static, Result<T, SpannedError>>,
    skip: usize,
) -> BoxStream<'static, Result<T, SpannedError>> {
    let mut left = skip;
    rows.try_filter_map(move |row| {
        let skipped = left > 0;
        left = left.saturating_sub(1);
        future::ready(Ok((!skipped).then_some(row)))
    })
    .boxed()
}

impl QueryRun {
    /// Binds the names of a statement to the values of one row.
    fn scope<'a>(
        &'a self,
        statement: &'a Statement,
        frame: &'a IntermediateRow,
    ) -> NameBindings<'a> {
        NameBindings {
            sources: &statement.sources,
            row: &frame.row,
            aggregates: &frame.aggregates,
            now: self.now,
            budget: RowBudget::new(&self.budget),
        }
    }

    /// Evaluates the row count of SKIP or TOP.
    fn count(
        &self,
        expr: Option<&Expr>,
        clause: &'static str,
    ) -> Result<Option<usize>, SpannedError> {
        let Some(expr) = expr else {
            return Ok(None);
        };
        let scope = NameBindings {
            sources: &[],
            row: &[],
            aggregates: &[],
            now: self.now,
            budget: RowBudget::new(&self.budget),
        };
        let value = scope.evaluate_and_decode(expr)?;
        if let Value::Int(count) = value
            && count >= 0
        {
            return Ok(Some(usize::try_from(count).unwrap_or(usize::MAX)));
        }
        let found = super::evaluate::value_for_message(&value);
        Err(SpannedError::new(
            expr.span,
            QueryErrorKind::NotACount { clause, found },
        ))
    }
}

impl IntermediateRow {
    /// Estimates the size in bytes.
    fn size(&self) -> usize {
        let aggregates = self.aggregates.iter().map(|(_, value)| value);
        let values = self.row.iter().chain(aggregates);
        values.map(Value::size).fold(64, usize::saturating_add)
    }
}
