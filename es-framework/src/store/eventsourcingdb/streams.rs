//! Reading: lines become events, each checked before it is handed on.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::{Response, StatusCode};
use serde::Serialize;

use super::{connection::Connection, lines::Lines, wire};
use crate::{
    event::{EventId, EventType, Hash, RecordedEvent, StreamLine, StreamLineParser, Subject},
    store::{EventStream, Order, ReadOptions, StoreError, options::IdRange},
};

/// What the events of a stream must look like.
pub(super) struct Expected {
    pub(super) subject: Subject,
    pub(super) recursive: bool,
    pub(super) order: Order,
    pub(super) range: IdRange,
}

/// One answer, and how far it was read.
pub(super) struct Events {
    connection: Arc<Connection>,
    lines: Lines,
    parser: StreamLineParser,
    expected: Expected,
    last: Option<Link>,
    /// Whether any line has come, if only a sign of life.
    pub(super) is_alive: bool,
}

/// An event's place in the chain of hashes.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub(super) id: EventId,
    predecessor: Hash,
    hash: Hash,
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
        let expected = Expected {
            subject,
            recursive: options.recursive,
            order: options.order,
            range: IdRange::of(options.lower_bound, options.upper_bound),
        };
        Ok(Some(Wanted {
            events: Events::new(connection, answer, silence, expected, None),
            event_types: options.event_types,
            left: options.limit.map(NonZeroU64::get),
        }))
    };
    streamed(begin)
}

/// The events of an answer that are wanted. The protocol's reads know neither types nor a limit.
/// EventQL does, but its rows carry no hash in the older dialect, so that nothing could be verified,
/// and servers of the older generation may not know it. So all is read up to the last event that is
/// wanted, and the connection dropped there.
struct Wanted {
    events: Events,
    event_types: Vec<EventType>,
    /// How many are still wanted.
    left: Option<u64>,
}

impl Wanted {
    async fn next(&mut self) -> Result<Option<RecordedEvent>, StoreError> {
        if self.left == Some(0) {
            return Ok(None);
        }
        while let Some(event) = self.events.next().await? {
            if self.event_types.is_empty() || self.event_types.contains(&event.event_type) {
                self.left = self.left.map(|left| left.saturating_sub(1));
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

pub(super) fn encode(body: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(body).map_err(|error| StoreError::Refused(error.to_string()))
}

fn streamed(
    begin: impl Future<Output = Result<Option<Wanted>, StoreError>> + Send + 'static,
) -> EventStream {
    let events = |wanted: Option<Wanted>| {
        stream::try_unfold(wanted, |wanted| async {
            let Some(mut wanted) = wanted else {
                return Ok(None);
            };
            let event = wanted.next().await?;
            // Dropped with the last one, not when somebody asks for another.
            let wanted = Some(wanted).filter(|wanted| wanted.left != Some(0));
            Ok(event.map(|event| (event, wanted)))
        })
    };
    stream::once(begin).map_ok(events).try_flatten().boxed()
}

impl Events {
    /// The events of an answer that goes on after `last`.
    pub(super) fn new(
        connection: Arc<Connection>,
        answer: Response,
        silence: Duration,
        expected: Expected,
        last: Option<Link>,
    ) -> Self {
        Self {
            connection,
            lines: Lines::new(answer, silence),
            parser: StreamLineParser::default(),
            expected,
            last,
            is_alive: false,
        }
    }

    /// The next event that was asked for, or `None` at the end of the answer.
    pub(super) async fn next(&mut self) -> Result<Option<RecordedEvent>, StoreError> {
        while let Some(line) = self.lines.next(&self.connection).await? {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let parsed = self.parser.parse(&line);
            match parsed.map_err(|error| self.connection.corrupt(error.to_string()))? {
                StreamLine::Heartbeat => self.is_alive = true,
                StreamLine::Error(text) => {
                    return Err(self.connection.unavailable(self.connection.shown(&text)));
                }
                StreamLine::Event(event) => {
                    self.is_alive = true;
                    self.check(&event)?;
                    // Servers of the older generation may not know this spelling of bounds.
                    let range = &self.expected.range;
                    if (range.first..=range.last).contains(&event.id.get()) {
                        self.check_place(&event)?;
                        self.last = Some(Link::of(&event));
                        return Ok(Some(*event));
                    }
                }
            }
        }
        Ok(None)
    }

    /// What is not what it claims to be, or not what was asked for, is not handed on.
    fn check(&self, event: &RecordedEvent) -> Result<(), StoreError> {
        let Expected {
            subject, recursive, ..
        } = &self.expected;
        event
            .verify(event.predecessor_hash)
            .map_err(|broken| self.connection.corrupt(broken.to_string()))?;
        let belongs = event.subject == *subject || (*recursive && event.subject.is_within(subject));
        if belongs {
            return Ok(());
        }
        let (id, other) = (event.id, &event.subject);
        let reason = format!("event {id} of {other} came in a read of {subject}");
        Err(self.connection.corrupt(reason))
    }

    /// Neither is what does not follow the event before it.
    fn check_place(&self, event: &RecordedEvent) -> Result<(), StoreError> {
        let link = Link::of(event);
        let first = link.id == EventId::FIRST;
        if self.connection.settings.verify_chain && first && link.predecessor != Hash::ZERO {
            let reason = "the first event follows another one";
            return Err(self.connection.corrupt(reason));
        }
        let Some(last) = self.last else {
            return Ok(());
        };
        let (older, newer) = match self.expected.order {
            Order::Chronological => (last, link),
            Order::Antichronological => (link, last),
        };
        if older.id >= newer.id {
            let reason = format!("event {} came out of order", event.id);
            return Err(self.connection.corrupt(reason));
        }
        let neighbours = older.id.next() == Some(newer.id);
        if self.connection.settings.verify_chain && neighbours && newer.predecessor != older.hash {
            let reason = format!("event {} does not follow event {}", newer.id, older.id);
            return Err(self.connection.corrupt(reason));
        }
        Ok(())
    }
}

impl Link {
    pub(super) const fn of(event: &RecordedEvent) -> Self {
        Self {
            id: event.id,
            predecessor: event.predecessor_hash,
            hash: event.hash,
        }
    }
}
