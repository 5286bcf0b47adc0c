//! Evaluates FROM clauses: the values of one source, or all combinations of several sources.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{IntermediateRow, QueryRun, RowStream, ValueStream, statement};
use crate::{
    ast::{FromClause, RowSource, Statement},
    query_error::SpannedError,
    read_hint::ReadHint,
    value::Value,
};
use es_event::{RecordedEvent, Subject};

/// Returns the rows of all FROM clauses. The values of the first clause are streamed, those of the
/// others are held in memory.
pub(super) fn stream_rows(statement: &Statement, run: &Arc<QueryRun>, hint: ReadHint) -> RowStream {
    let Some((first, others)) = statement.sources.split_first() else {
        return stream::empty().boxed();
    };
    let mut frames = values(first, run, hint)
        .map_ok(|value| IntermediateRow {
            row: vec![value],
            aggregates: Vec::new(),
        })
        .boxed();
    for other in others {
        frames = combine_rows(
            frames,
            values(other, run, ReadHint::default()),
            Arc::clone(run),
        );
    }
    let budget = Arc::clone(&run.budget);
    frames
        .map(move |frame| {
            budget.count_work_of_row()?;
            frame
        })
        .boxed()
}

/// Returns the values of one FROM clause.
fn values(source: &FromClause, run: &Arc<QueryRun>, hint: ReadHint) -> ValueStream {
    match &source.origin {
        RowSource::Events => hint
            .read_events(&*run.log)
            .map_ok(|event| Value::Event(Arc::new(event)))
            .err_into()
            .boxed(),
        RowSource::Subjects => read_distinct_names(run, |event, found| {
            let mut subject = event.subject.as_str();
            while found(subject) && subject != Subject::root().as_str() {
                subject = parent(subject);
            }
        }),
        RowSource::EventTypes => read_distinct_names(run, |event, found| {
            found(event.event_type.as_str());
        }),
        RowSource::Query(inner) => statement(Arc::clone(inner), Arc::clone(run)),
    }
}

/// Returns the parent subject. A subject exists as soon as a descendant has an event.
fn parent(subject: &str) -> &str {
    let path = subject.trim_end_matches('/');
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}

/// Returns the names that `find` reports for all events, sorted and without duplicates. The
/// callback of `find` returns true for a new name.
fn read_distinct_names(
    run: &Arc<QueryRun>,
    find: impl Fn(&RecordedEvent, &mut dyn FnMut(&str) -> bool) + Send + 'static,
) -> ValueStream {
    let run = Arc::clone(run);
    let names = async move {
        let mut names = BTreeSet::<Arc<str>>::new();
        let mut events = ReadHint::default().read_events(&*run.log);
        while let Some(event) = events.try_next().await? {
            run.budget.count_work_of_row()?;
            let mut grown = 0_usize;
            find(&event, &mut |name| {
                let is_new = !names.contains(name);
                if is_new {
                    names.insert(name.into());
                    grown = grown.saturating_add(name.len()).saturating_add(64);
                }
                is_new
            });
            run.budget.reserve(grown)?;
        }
        let names = names.into_iter().map(|name| Ok(Value::Text(name)));
        Ok::<_, SpannedError>(stream::iter(names))
    };
    stream::once(names).try_flatten().boxed()
}

/// Combines each row with each of the values.
fn combine_rows(frames: RowStream, values: ValueStream, run: Arc<QueryRun>) -> RowStream {
    let combined = async move {
        let held = collect_in_memory(values, &run).await?;
        let with_each = move |frame: IntermediateRow| {
            let held = Arc::clone(&held);
            let combine = move |index: usize| {
                let mut frame = frame.clone();
                frame.row.push(held.get(index)?.clone());
                Some((Ok::<_, SpannedError>(frame), index.saturating_add(1)))
            };
            stream::unfold(0, move |index| std::future::ready(combine(index)))
        };
        Ok::<_, SpannedError>(frames.map_ok(with_each).try_flatten())
    };
    stream::once(combined).try_flatten().boxed()
}

/// Collects all values in memory, within the memory budget.
async fn collect_in_memory(
    mut values: ValueStream,
    run: &QueryRun,
) -> Result<Arc<[Value]>, SpannedError> {
    let mut held = Vec::new();
    while let Some(value) = values.try_next().await? {
        run.budget.reserve(value.size())?;
        held.push(value);
    }
    Ok(held.into())
}
