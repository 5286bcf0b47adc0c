//! The stream of outputs that one client of a live query receives.

use std::{convert::Infallible, time::Duration};

use axum::{http::StatusCode, response::sse::Event};
use es_subscribe::ProgressWatcher;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep_until, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{
    super::{
        Problem, event_position::is_lost, output_id::OutputId, query::QueryRequest,
        query_response::QueryOutput,
    },
    live_queries::LiveQuerySettings,
};

/// A client whose connection broke reconnects after this time.
const RETRY: Duration = Duration::from_secs(2);

/// The outputs of a live query as server-sent events. At most one output is in memory: a slow client
/// skips to the newest one, and a client that reads nothing loses the connection.
pub(super) struct OutputStream {
    request: QueryRequest,
    changes: ProgressWatcher,
    settings: LiveQuerySettings,
    shutdown: CancellationToken,
    /// The id of the last output that was sent. At first, the id in the header `Last-Event-ID`.
    seen: Option<OutputId>,
    /// The first event to send.
    first: Option<Event>,
    /// The output that follows the event before.
    next: Option<Event>,
    /// The held rows that the client knows of, as the header `Held-Rows` has them.
    held: Option<String>,
    /// The time since which the read models lack events that the output must contain.
    lags_since: Option<Instant>,
    /// True if the stream ends because the query failed.
    has_failed: bool,
    /// The earliest time at which the query may run again.
    next_run: Instant,
    /// The permits of the caller and of the service.
    _permits: [OwnedSemaphorePermit; 2],
}

impl OutputStream {
    /// Opens the stream and runs the query. The stream begins with the output, or with a comment if the client has
    /// already received this output or has to wait for it. An `EventSource` reconnects only after a stream, never
    /// after a problem, so a temporary failure of the query is a part of the stream.
    pub(super) async fn open(
        request: QueryRequest,
        seen: Option<OutputId>,
        permits: [OwnedSemaphorePermit; 2],
    ) -> Result<Self, Problem> {
        let context = &request.context;
        let changes = ProgressWatcher::subscribe(request.tables(), &context.positions);
        let live = context.live.clone();
        let mut stream = Self {
            request,
            changes,
            settings: live.settings,
            shutdown: live.shutdown,
            seen,
            first: None,
            next: None,
            held: None,
            lags_since: None,
            has_failed: false,
            next_run: Instant::now(),
            _permits: permits,
        };
        stream.forget_lost_events().await;
        let first = match stream.run_query().await {
            Ok(Some(output)) => output,
            Ok(None) => heartbeat(),
            Err(problem) if stream.may_wait(&problem) => waiting_comment(),
            Err(problem) if problem.status() == StatusCode::SERVICE_UNAVAILABLE => {
                stream.fail(&problem)
            }
            Err(problem) => return Err(problem),
        };
        stream.first = Some(first.retry(RETRY));
        Ok(stream)
    }

    /// Lets the stream begin anew if the event store does not have the events that the client saw, as after a
    /// restored backup. The outputs are complete, so the client needs nothing else.
    async fn forget_lost_events(&mut self) {
        let context = &self.request.context;
        let seen = self.seen.as_ref().and_then(|seen| seen.position);
        if let Some(position) = seen
            && is_lost(context, self.request.tables(), position).await
        {
            self.seen = None;
        }
    }

    /// Waits for the next event, and returns it with the rest of the stream.
    pub(super) async fn next_output(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        let shutdown = self.shutdown.clone();
        let next = shutdown.run_until_cancelled(self.next_event());
        let event = next.await.flatten()?;
        Some((Ok(event), self))
    }

    async fn next_event(&mut self) -> Option<Event> {
        if let Some(next) = self.first.take().or_else(|| self.next.take()) {
            return Some(next);
        }
        if self.has_failed {
            return None;
        }
        let deadline = instant_after(self.settings.heartbeat);
        loop {
            if timeout_at(deadline, self.changes.wait_for_change())
                .await
                .is_ok()
            {
                sleep_until(self.next_run.min(deadline)).await;
            }
            let comment = match self.run_query().await {
                Ok(Some(output)) => return Some(output),
                Ok(None) => heartbeat(),
                Err(problem) if self.may_wait(&problem) => waiting_comment(),
                Err(problem) => return Some(self.fail(&problem)),
            };
            if Instant::now() >= deadline {
                return Some(comment);
            }
        }
    }

    /// Returns true if the query failed because its read models lag, and they may do so for some more time.
    fn may_wait(&mut self, problem: &Problem) -> bool {
        if !problem.is_lag() {
            return false;
        }
        let since = *self.lags_since.get_or_insert_with(Instant::now);
        since.elapsed() < self.settings.catch_up_time
    }

    /// Ends the stream, and returns its last event.
    fn fail(&mut self, problem: &Problem) -> Event {
        self.has_failed = true;
        Event::default().event("problem").data(problem.to_json())
    }

    /// Runs the query, and returns its output unless the client has received it before.
    async fn run_query(&mut self) -> Result<Option<Event>, Problem> {
        self.wait_for_seen_events().await?;
        let begin = Instant::now();
        // Changes that a read model applies while the query runs lead to another run.
        self.changes.applied_position();
        let answer = self.request.run().await;
        // A slow query runs at most half of the time.
        let pause = self.settings.gather_window.saturating_sub(begin.elapsed());
        self.next_run = instant_after(pause.max(begin.elapsed()));
        let output = answer?;
        self.lags_since = None;
        let seen = self.seen.as_ref();
        let is_seen = seen.is_some_and(|seen| seen.digest == output.id.digest);
        let mut event = None;
        if !is_seen {
            event = Some(output_event(&output)?);
            self.seen = Some(output.id);
        }
        let held = output.held.header_value(output.json.get());
        if held != self.held {
            self.next = event;
            event = Some(held_rows_event(held.as_deref()));
            self.held = held;
        }
        Ok(event)
    }

    /// A client that reconnects to an instance that lags must not see older rows than before.
    async fn wait_for_seen_events(&self) -> Result<(), Problem> {
        let context = &self.request.context;
        let position = self.seen.as_ref().and_then(|seen| seen.position);
        if position.is_some() {
            let (tables, wait) = (self.request.tables(), context.limits.position_wait);
            context
                .positions
                .wait_until_reached(tables, position, wait)
                .await?;
        }
        Ok(())
    }
}

/// Creates the server-sent event of an output.
fn output_event(output: &QueryOutput) -> Result<Event, Problem> {
    let event = Event::default()
        .id(output.id.to_string())
        .json_data(&output.json);
    event.map_err(|error| Problem::log_internal_error(&error))
}

/// Creates the server-sent event that comes before an output with other held rows.
fn held_rows_event(held: Option<&str>) -> Event {
    let value = held.unwrap_or("total=0");
    Event::default().event("held-rows").data(value)
}

/// Returns a comment, which clients ignore.
fn heartbeat() -> Event {
    Event::default().comment("no change")
}

/// Returns the comment for a client whose output the read models do not contain yet.
fn waiting_comment() -> Event {
    Event::default().comment("the read models have not applied all events yet")
}

/// Returns the time after this duration.
fn instant_after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now)
}
