//! New events as server-sent events. The stream asks the store at intervals instead of following it, so that a
//! page costs the same however many events are recorded.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue},
    response::{IntoResponse as _, Response, Sse, sse::Event},
};
use es_event::EventId;
use es_store::{StoreError, newest_id};
use futures_util::stream;
use serde::Serialize;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::{
    console::Console,
    event_filter::{EventFilter, ParsedFilterForm},
    event_list::{PAGE, render_rows},
    event_search::{SearchRange, search},
    query_values::AddressValues,
};

/// Time between two questions to the store.
const INTERVAL: Duration = Duration::from_secs(1);
/// Time without a new event after which the reader gets a sign of life.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Time after which the stream ends and the browser connects again, so that a session cannot outlive its end
/// for long.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// A message to a page: new rows.
#[derive(Debug, Serialize)]
struct NewRows {
    /// The rows as HTML, newest first.
    rows: String,
    count: usize,
    /// True if more events were recorded than the message has.
    missed: bool,
}

/// The events that one page receives.
struct LiveEvents {
    console: Arc<Console>,
    filter: EventFilter,
    /// The newest event that was searched.
    newest: Option<EventId>,
    shutdown: CancellationToken,
    is_first: bool,
    end: Option<Instant>,
    _permit: OwnedSemaphorePermit,
}

/// Responds with the stream of new events. `Last-Event-ID` continues an earlier stream.
pub(crate) fn stream_events(
    console: Arc<Console>,
    permit: OwnedSemaphorePermit,
    headers: &HeaderMap,
    query: &str,
) -> Response {
    let input = ParsedFilterForm::new(AddressValues::parse(query), &console.event_types());
    let header = headers.get("last-event-id");
    let last = header.and_then(|value| value.to_str().ok()?.parse().ok());
    let events = LiveEvents {
        shutdown: console.shutdown.clone(),
        filter: input.filter,
        newest: last.or(input.after),
        console,
        is_first: true,
        end: Instant::now().checked_add(LIFETIME),
        _permit: permit,
    };
    let mut response = Sse::new(stream::unfold(events, LiveEvents::next)).into_response();
    let name = HeaderName::from_static("x-accel-buffering");
    let headers = response.headers_mut();
    headers.insert(name, HeaderValue::from_static("no"));
    response
}

impl LiveEvents {
    /// Waits for the next message, and returns it with the rest of the stream.
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        let shutdown = self.shutdown.clone();
        let next = shutdown.run_until_cancelled(self.next_message());
        let message = next.await.flatten()?;
        Some((Ok(message), self))
    }

    async fn next_message(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.is_first) {
            return Some(Event::default().comment("ready"));
        }
        let deadline = Instant::now().checked_add(HEARTBEAT)?;
        loop {
            if Instant::now() >= self.end? {
                return None;
            }
            sleep(INTERVAL).await;
            // A store that does not answer is asked again after the next interval.
            if let Ok(Some(message)) = self.load_new_rows().await {
                return Some(message);
            }
            if Instant::now() >= deadline {
                return Some(Event::default().comment("no change"));
            }
        }
    }

    /// Returns the events that were recorded since the last question.
    async fn load_new_rows(&mut self) -> Result<Option<Event>, StoreError> {
        let store = &*self.console.store;
        let newest = newest_id(store).await?;
        if newest <= self.newest {
            // A store that was restored from an older backup lacks events that the page has.
            self.newest = newest;
            return Ok(None);
        }
        let range = SearchRange {
            after: self.newest,
            before: newest.and_then(EventId::next),
        };
        let found = search(store, &self.filter, range, PAGE).await?;
        self.newest = newest;
        if found.events.is_empty() {
            return Ok(None);
        }
        let next = found.next.and_then(|next| next.get().checked_sub(1));
        let missed = next.is_some_and(|next| range.after.is_none_or(|after| next > after.get()));
        let message = NewRows {
            rows: render_rows(&found.events).into_string(),
            count: found.events.len(),
            missed,
        };
        let id = newest.map(|id| id.to_string()).unwrap_or_default();
        Ok(Event::default().id(id).json_data(&message).ok())
    }
}
