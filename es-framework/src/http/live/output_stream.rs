//! The stream of outputs that one client of a live query receives.

use std::{convert::Infallible, time::Duration};

use axum::response::sse::Event;
use serde_json::value::RawValue;
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    time::{Instant, sleep_until, timeout_at},
};

use super::{
    super::{Problem, query::QueryRequest, query_response::digest_output},
    live_queries::LiveQuerySettings,
    output_id::OutputId,
};
use crate::projection::ReadModelWatcher;

/// A client whose connection broke reconnects after this time.
const RETRY: Duration = Duration::from_secs(2);

/// The outputs of a live query as server-sent events. At most one output is in memory: a slow client
/// skips to the newest one, and a client that reads nothing loses the connection.
pub(super) struct OutputStream {
    request: QueryRequest,
    changes: ReadModelWatcher,
    settings: LiveQuerySettings,
    is_over: watch::Receiver<bool>,
    /// The id of the last output that was sent. At first, the id in the header `Last-Event-ID`.
    seen: Option<OutputId>,
    /// The first event to send.
    first: Option<Event>,
    /// True if the stream ends because the query failed.
    has_failed: bool,
    /// The earliest time at which the query may run again.
    next_run: Instant,
    /// The permits of the caller and of the service.
    _permits: [OwnedSemaphorePermit; 2],
}

impl OutputStream {
    /// Opens the stream and runs the query. The stream begins with the output, or with a heartbeat if the
    /// client has already received this output.
    pub(super) async fn open(
        request: QueryRequest,
        seen: Option<OutputId>,
        permits: [OwnedSemaphorePermit; 2],
    ) -> Result<Self, Problem> {
        let context = &request.context;
        // A client that reconnects to an instance that lags must not see older rows than before.
        let position = seen.as_ref().and_then(|seen| seen.position);
        let wait = context.limits.position_wait;
        let (positions, tables) = (&context.positions, request.tables());
        positions.wait_until_reached(tables, position, wait).await?;
        let changes = ReadModelWatcher::subscribe(tables, positions);
        let live = context.live.clone();
        let mut stream = Self {
            request,
            changes,
            settings: live.settings,
            is_over: live.is_over.subscribe(),
            seen,
            first: None,
            has_failed: false,
            next_run: Instant::now(),
            _permits: permits,
        };
        let first = stream.run_query().await?.unwrap_or_else(heartbeat);
        stream.first = Some(first.retry(RETRY));
        Ok(stream)
    }

    /// Waits for the next event, and returns it with the rest of the stream.
    pub(super) async fn next_output(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        let mut is_over = self.is_over.clone();
        let event = tokio::select! {
            biased;
            _ = is_over.wait_for(|is_over| *is_over) => return None,
            event = self.next_event() => event?,
        };
        Some((Ok(event), self))
    }

    async fn next_event(&mut self) -> Option<Event> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if self.has_failed {
            return None;
        }
        let deadline = after(self.settings.heartbeat);
        loop {
            if timeout_at(deadline, self.changes.wait_for_change())
                .await
                .is_ok()
            {
                sleep_until(self.next_run.min(deadline)).await;
            }
            match self.run_query().await {
                Ok(Some(output)) => return Some(output),
                Ok(None) if Instant::now() >= deadline => return Some(heartbeat()),
                Ok(None) => {}
                Err(problem) => {
                    self.has_failed = true;
                    return Some(Event::default().event("problem").data(problem.to_json()));
                }
            }
        }
    }

    /// Runs the query, and returns its output unless the client has received it before.
    async fn run_query(&mut self) -> Result<Option<Event>, Problem> {
        let begin = Instant::now();
        // The output may lack events that a read model applies while the query runs.
        let position = self.changes.applied_position();
        let json = self.request.run_to_json().await;
        // A slow query runs at most half of the time.
        let pause = self.settings.gather_window.saturating_sub(begin.elapsed());
        self.next_run = after(pause.max(begin.elapsed()));
        let json = json?;
        let tag = digest_output(json.get());
        if self.seen.as_ref().is_some_and(|seen| seen.tag == tag) {
            return Ok(None);
        }
        let seen = OutputId { position, tag };
        let event = output_event(&json, &seen)?;
        self.seen = Some(seen);
        Ok(Some(event))
    }
}

/// Creates the server-sent event of an output.
fn output_event(json: &RawValue, id: &OutputId) -> Result<Event, Problem> {
    let event = Event::default().id(id.to_string()).json_data(json);
    event.map_err(|error| Problem::log_internal_error(&error))
}

/// Returns a comment, which clients ignore.
fn heartbeat() -> Event {
    Event::default().comment("no change")
}

/// Returns the time after this duration.
fn after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now)
}
