//! Reads events from responses and checks each event before it returns it.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::{Response, StatusCode};
use serde::Serialize;

use super::{
    api_version::DataRoute, detected_version::ApiVersion, http_client::StoreHttpClient,
    line_reader::LineReader, refusal::store_error, request_bodies::ReadOrObserveBody,
};
use es_event::{EventId, EventType, Hash, RecordedEvent, StreamLine, StreamLineParser, Subject};
use es_store::{EventStream, Order, ReadOptions, StoreError, options::IdRange};

/// The requested events, against which each received event is checked.
pub(super) struct ExpectedEvents {
    pub(super) version: ApiVersion,
    pub(super) subject: Subject,
    pub(super) recursive: bool,
    pub(super) order: Order,
    pub(super) range: IdRange,
}

/// Reads and checks the events of one response.
pub(super) struct EventReader {
    http_client: Arc<StoreHttpClient>,
    lines: LineReader,
    parser: StreamLineParser,
    expected: ExpectedEvents,
    last: Option<ChainLink>,
    /// The server has sent at least one line, even if it was a heartbeat.
    pub(super) is_alive: bool,
}

/// The position of an event in the hash chain.
#[derive(Clone, Copy)]
pub(super) struct ChainLink {
    pub(super) id: EventId,
    predecessor: Hash,
    hash: Hash,
}

/// Reads the stored events of a subject.
pub(super) fn read_events(
    http_client: Arc<StoreHttpClient>,
    subject: Subject,
    options: ReadOptions,
) -> EventStream {
    let start = async move {
        options.check()?;
        let range = IdRange::from_bounds(options.lower_bound, options.upper_bound);
        if range.is_empty() {
            // A server refuses a range without room for an event.
            return Ok(None);
        }
        let body = encode_request_body(&ReadOrObserveBody::of_read(&subject, &options))?;
        let silence = http_client.settings.read_silence;
        let version = http_client.version().await?;
        let request = http_client.authorized(version, DataRoute::Read("read-events"));
        let request = StoreHttpClient::with_json(request, body);
        let sent = http_client.send_with_failover(request, silence).await;
        let response = sent.map_err(|error| http_client.unavailable(error.reason))?;
        if response.status() != StatusCode::OK {
            let is_conflict = response.status() == StatusCode::CONFLICT;
            return match http_client.error_of(response).await {
                // The event to start from is after the upper bound, so the read has no events.
                StoreError::Refused(text) if is_conflict && text.contains("fromLatestEvent") => {
                    Ok(None)
                }
                error => Err(error),
            };
        }
        let expected = ExpectedEvents {
            version,
            subject,
            recursive: options.recursive,
            order: options.order,
            range,
        };
        Ok(Some(FilteredEventReader {
            events: EventReader::new(http_client, response, silence, expected, None),
            event_types: options.event_types,
            remaining: options.limit.map(NonZeroU64::get),
        }))
    };
    stream_selected(start)
}

/// The events of a response that have the requested types, up to the requested number. A read of the
/// protocol has no filter by type and no limit. EventQL has both, but its rows have no hash in the older
/// dialect, and older servers lack it. So the client filters, and drops the connection after the last
/// requested event.
struct FilteredEventReader {
    events: EventReader,
    event_types: Vec<EventType>,
    /// The number of events that this reader may still return. `None` means no limit.
    remaining: Option<u64>,
}

impl FilteredEventReader {
    /// Returns the next event of one of the types. Returns `None` at the end or at the limit.
    async fn next(&mut self) -> Result<Option<RecordedEvent>, StoreError> {
        if self.remaining == Some(0) {
            return Ok(None);
        }
        while let Some(event) = self.events.next_event().await? {
            if self.event_types.is_empty() || self.event_types.contains(&event.event_type) {
                self.remaining = self.remaining.map(|remaining| remaining.saturating_sub(1));
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

/// Encodes the body of a request.
pub(super) fn encode_request_body(body: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(body).map_err(|error| StoreError::Refused(error.to_string()))
}

fn stream_selected(
    start: impl Future<Output = Result<Option<FilteredEventReader>, StoreError>> + Send + 'static,
) -> EventStream {
    let events = |selected: Option<FilteredEventReader>| {
        stream::try_unfold(selected, |selected| async {
            let Some(mut selected) = selected else {
                return Ok(None);
            };
            let event = selected.next().await?;
            // Drops the connection together with the last event.
            let selected = Some(selected).filter(|selected| selected.remaining != Some(0));
            Ok(event.map(|event| (event, selected)))
        })
    };
    stream::once(start).map_ok(events).try_flatten().boxed()
}

impl EventReader {
    /// Creates a reader for the response that continues after `last`.
    pub(super) fn new(
        http_client: Arc<StoreHttpClient>,
        response: Response,
        silence: Duration,
        expected: ExpectedEvents,
        last: Option<ChainLink>,
    ) -> Self {
        Self {
            http_client,
            lines: LineReader::new(response, silence),
            parser: StreamLineParser::default(),
            expected,
            last,
            is_alive: false,
        }
    }

    /// Returns the next requested event, or `None` at the end of the response.
    pub(super) async fn next_event(&mut self) -> Result<Option<RecordedEvent>, StoreError> {
        while let Some(line) = self.lines.next_line(&self.http_client).await? {
            let parsed = self.parser.parse(&line);
            match parsed.map_err(|error| self.http_client.corrupt(error.to_string()))? {
                StreamLine::Heartbeat => self.is_alive = true,
                StreamLine::Error(text) => {
                    return Err(self
                        .http_client
                        .unavailable(self.http_client.printable(&text)));
                }
                // The event to start from is after the upper bound, so the read has no events.
                StreamLine::Failure(failure) if failure.short_code() == "range-unsatisfiable" => {
                    return Ok(None);
                }
                StreamLine::Failure(failure) => {
                    return Err(store_error(&self.http_client, &failure));
                }
                StreamLine::End => return Ok(None),
                StreamLine::Event(event) => {
                    self.is_alive = true;
                    self.check_event(&event)?;
                    // Servers of the older protocol generation may ignore these bounds.
                    let range = &self.expected.range;
                    if (range.first..=range.last).contains(&event.id.get()) {
                        self.check_order(&event)?;
                        self.last = Some(ChainLink::from_event(&event));
                        return Ok(Some(*event));
                    }
                }
            }
        }
        self.http_client.check_end(self.expected.version)?;
        Ok(None)
    }

    /// Checks the hash of an event, and that its subject was requested.
    fn check_event(&self, event: &RecordedEvent) -> Result<(), StoreError> {
        let ExpectedEvents {
            subject, recursive, ..
        } = &self.expected;
        event
            .verify(event.predecessor_hash)
            .map_err(|broken| self.http_client.corrupt(broken.to_string()))?;
        let is_requested =
            event.subject == *subject || (*recursive && event.subject.is_within(subject));
        if is_requested {
            return Ok(());
        }
        let (id, other) = (event.id, &event.subject);
        let reason = format!("the response to a read of {subject} contains event {id} of {other}");
        Err(self.http_client.corrupt(reason))
    }

    /// Checks that an event follows the one before it, by its id and by its hash.
    fn check_order(&self, event: &RecordedEvent) -> Result<(), StoreError> {
        let link = ChainLink::from_event(event);
        let is_first = link.id == EventId::FIRST;
        if self.http_client.settings.verify_chain && is_first && link.predecessor != Hash::ZERO {
            let reason = "the first event has a predecessor";
            return Err(self.http_client.corrupt(reason));
        }
        let Some(last) = self.last else {
            return Ok(());
        };
        let (older, newer) = match self.expected.order {
            Order::Chronological => (last, link),
            Order::Antichronological => (link, last),
        };
        if older.id >= newer.id {
            let reason = format!("event {} is out of order", event.id);
            return Err(self.http_client.corrupt(reason));
        }
        let are_neighbours = older.id.next() == Some(newer.id);
        if self.http_client.settings.verify_chain
            && are_neighbours
            && newer.predecessor != older.hash
        {
            let reason = format!("event {} does not follow event {}", newer.id, older.id);
            return Err(self.http_client.corrupt(reason));
        }
        Ok(())
    }
}

impl ChainLink {
    pub(super) const fn from_event(event: &RecordedEvent) -> Self {
        Self {
            id: event.id,
            predecessor: event.predecessor_hash,
            hash: event.hash,
        }
    }
}
