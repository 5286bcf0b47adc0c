//! Reading and observing: lines become events, each checked before it is handed on.

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::StatusCode;
use serde::Serialize;

use super::{connection::Connection, lines::Lines, wire};
use crate::{
    event::{EventId, Line, RecordedEvent, Subject},
    store::{EventStream, ObserveOptions, Order, ReadOptions, StoreError, options::IdRange},
};

/// What the events of a stream must look like.
struct Expected {
    subject: Subject,
    recursive: bool,
    order: Order,
    range: IdRange,
    /// Whether the body may end.
    endless: bool,
}

/// One answer, and how far it was read.
struct Events {
    connection: Arc<Connection>,
    lines: Lines,
    expected: Expected,
    last: Option<EventId>,
}

pub(super) fn read(
    connection: Arc<Connection>,
    subject: Subject,
    options: ReadOptions,
) -> EventStream {
    let begin = async move {
        options.check()?;
        let body = encode(&wire::Read::stored(&subject, &options))?;
        let silence = connection.settings.read_silence;
        let request = Connection::json(connection.post("read-events"), body);
        let sent = connection.send(request, silence).await;
        let answer = sent.map_err(|failure| connection.unavailable(failure.reason))?;
        if answer.status() != StatusCode::OK {
            let is_conflict = answer.status() == StatusCode::CONFLICT;
            return match connection.refusal(answer).await {
                // The event to start from lies behind the upper bound: there is nothing to read.
                StoreError::Refused(text) if is_conflict && text.contains("fromLatestEvent") => {
                    Ok(None)
                }
                refusal => Err(refusal),
            };
        }
        Ok(Some(Events {
            connection,
            lines: Lines::new(answer, silence),
            expected: Expected {
                subject,
                recursive: options.recursive,
                order: options.order,
                range: IdRange::of(options.lower_bound, options.upper_bound),
                endless: false,
            },
            last: None,
        }))
    };
    streamed(begin)
}

pub(super) fn observe(
    connection: Arc<Connection>,
    subject: Subject,
    options: ObserveOptions,
) -> EventStream {
    let begin = async move {
        options.check()?;
        let body = encode(&wire::Read::endless(&subject, &options))?;
        let silence = connection.settings.observe_silence;
        let request = Connection::json(connection.post("observe-events"), body);
        let answer = connection.ask(request, silence).await?;
        Ok(Some(Events {
            connection,
            lines: Lines::new(answer, silence),
            expected: Expected {
                subject,
                recursive: options.recursive,
                order: Order::Chronological,
                range: IdRange::of(options.lower_bound, None),
                endless: true,
            },
            last: None,
        }))
    };
    streamed(begin)
}

fn encode(body: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(body).map_err(|error| StoreError::Refused(error.to_string()))
}

fn streamed(
    begin: impl Future<Output = Result<Option<Events>, StoreError>> + Send + 'static,
) -> EventStream {
    let events = |events: Option<Events>| {
        stream::try_unfold(events, |events| async {
            let Some(mut events) = events else {
                return Ok(None);
            };
            let event = events.next().await?;
            Ok(event.map(|event| (event, Some(events))))
        })
    };
    stream::once(begin).map_ok(events).try_flatten().boxed()
}

impl Events {
    async fn next(&mut self) -> Result<Option<RecordedEvent>, StoreError> {
        while let Some(line) = self.lines.next(&self.connection).await? {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let parsed = Line::parse(&line);
            match parsed.map_err(|error| self.connection.corrupt(error.to_string()))? {
                Line::Heartbeat => {}
                Line::Error(text) => {
                    return Err(self.connection.unavailable(self.connection.shown(&text)));
                }
                Line::Event(event) => {
                    self.check(&event)?;
                    self.last = Some(event.id);
                    // Servers of the older generation may not know this spelling of bounds.
                    let range = &self.expected.range;
                    if (range.first..=range.last).contains(&event.id.get()) {
                        return Ok(Some(*event));
                    }
                }
            }
        }
        if self.expected.endless {
            return Err(self.connection.unavailable("the observation ended"));
        }
        Ok(None)
    }

    /// What is not what it claims to be, or not what was asked for, is not handed on.
    fn check(&self, event: &RecordedEvent) -> Result<(), StoreError> {
        let Expected {
            subject,
            recursive,
            order,
            ..
        } = &self.expected;
        event
            .verify(event.predecessor_hash)
            .map_err(|broken| self.connection.corrupt(broken.to_string()))?;
        let belongs = event.subject == *subject || (*recursive && event.subject.is_within(subject));
        if !belongs {
            let (id, other) = (event.id, &event.subject);
            let reason = format!("event {id} of {other} came in a read of {subject}");
            return Err(self.connection.corrupt(reason));
        }
        let follows = self.last.is_none_or(|last| match order {
            Order::Chronological => last < event.id,
            Order::Antichronological => last > event.id,
        });
        if !follows {
            let reason = format!("event {} came out of order", event.id);
            return Err(self.connection.corrupt(reason));
        }
        Ok(())
    }
}
