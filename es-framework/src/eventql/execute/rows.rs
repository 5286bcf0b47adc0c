//! What FROM gives: the values of one source, or every combination of those of several.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, BoxStream},
};

use super::{Frame, Frames, Run, Values, statement};
use crate::{
    event::{RecordedEvent, Subject},
    eventql::{
        ast::{FromClause, Origin, Statement},
        error::Fault,
        source::Hint,
        value::Value,
    },
};

/// How many rows pass until other tasks have their turn: rows in memory never wait by themselves,
/// and neither the deadline nor anyone else would get a word in.
const TURN: usize = 32;

/// The rows of all FROM clauses. The first one is read as it comes, the others are held.
pub(super) fn rows(statement: &Statement, run: &Arc<Run>, hint: Hint) -> Frames {
    let Some((first, others)) = statement.sources.split_first() else {
        return stream::empty().boxed();
    };
    let mut frames = values(first, run, hint)
        .map_ok(|value| Frame {
            row: vec![value],
            aggregates: Vec::new(),
        })
        .boxed();
    for other in others {
        frames = combined(frames, values(other, run, Hint::default()), Arc::clone(run));
    }
    frames
        .enumerate()
        .then(|(index, frame)| async move {
            if index % TURN == TURN - 1 {
                tokio::task::yield_now().await;
            }
            frame
        })
        .boxed()
}

fn values(source: &FromClause, run: &Arc<Run>, hint: Hint) -> Values {
    match &source.origin {
        Origin::Events => run
            .source
            .events(hint)
            .map_ok(|event| Value::Event(Arc::new(event)))
            .err_into()
            .boxed(),
        Origin::Subjects => match run.source.subjects() {
            Some(subjects) => texts(subjects),
            None => derived(run, |event, found| {
                let mut subject = event.subject.as_str();
                while found(subject) && subject != Subject::root().as_str() {
                    subject = parent(subject);
                }
            }),
        },
        Origin::EventTypes => match run.source.event_types() {
            Some(types) => texts(types),
            None => derived(run, |event, found| {
                found(event.event_type.as_str());
            }),
        },
        Origin::Query(inner) => statement(Arc::clone(inner), Arc::clone(run)),
    }
}

/// The subject above; subjects exist as soon as one below them has an event.
fn parent(subject: &str) -> &str {
    let path = subject.trim_end_matches('/');
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}

fn texts<T, E>(names: BoxStream<'static, Result<T, E>>) -> Values
where
    T: std::fmt::Display + 'static,
    E: Into<Fault> + 'static,
{
    names
        .map_ok(|name| Value::Text(name.to_string().into()))
        .map_err(Into::into)
        .boxed()
}

/// The names that `find` finds in all events, once each and sorted. It is told whether a name was
/// new.
fn derived(
    run: &Arc<Run>,
    find: impl Fn(&RecordedEvent, &mut dyn FnMut(&str) -> bool) + Send + 'static,
) -> Values {
    let run = Arc::clone(run);
    let names = async move {
        let mut names = BTreeSet::<Arc<str>>::new();
        let mut events = run.source.events(Hint::default());
        while let Some(event) = events.try_next().await? {
            let mut grown = 0_usize;
            find(&event, &mut |name| {
                let is_new = !names.contains(name);
                if is_new {
                    names.insert(name.into());
                    grown = grown.saturating_add(name.len()).saturating_add(64);
                }
                is_new
            });
            run.memory.hold(grown)?;
        }
        let names = names.into_iter().map(|name| Ok(Value::Text(name)));
        Ok::<_, Fault>(stream::iter(names))
    };
    stream::once(names).try_flatten().boxed()
}

/// Each frame with each of the values.
fn combined(frames: Frames, values: Values, run: Arc<Run>) -> Frames {
    let combined = async move {
        let held = held(values, &run).await?;
        let with_each = move |frame: Frame| {
            let held = Arc::clone(&held);
            let combine = move |index: usize| {
                let mut frame = frame.clone();
                frame.row.push(held.get(index)?.clone());
                Some((Ok::<_, Fault>(frame), index.saturating_add(1)))
            };
            stream::unfold(0, move |index| std::future::ready(combine(index)))
        };
        Ok::<_, Fault>(frames.map_ok(with_each).try_flatten())
    };
    stream::once(combined).try_flatten().boxed()
}

async fn held(mut values: Values, run: &Run) -> Result<Arc<[Value]>, Fault> {
    let mut held = Vec::new();
    while let Some(value) = values.try_next().await? {
        run.memory.hold(value.size())?;
        held.push(value);
    }
    Ok(held.into())
}
