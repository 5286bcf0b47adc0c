//! The answers that one client of a live query is sent, one after the other.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    http::{HeaderMap, Uri},
    response::sse::Event,
};
use serde_json::value::RawValue;
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    time::{Instant, sleep_until, timeout_at},
};

use super::{
    super::{
        HttpContext, Problem,
        query::{AskedAt, digest},
    },
    LiveLimits,
    last_seen::LastSeen,
};
use crate::{projection::Changes, query::Parameters};

/// After so long a client whose connection broke connects anew.
const RETRY: Duration = Duration::from_secs(2);

/// What a client asked, to be asked again.
pub(in crate::http) struct Question {
    pub(in crate::http) asked: Arc<AskedAt>,
    pub(in crate::http) surface: Arc<HttpContext>,
    pub(in crate::http) uri: Uri,
    pub(in crate::http) parameters: Parameters,
    pub(in crate::http) headers: HeaderMap,
}

impl Question {
    /// The answer as it is now.
    pub(in crate::http) async fn answer(&self) -> Result<Box<RawValue>, Problem> {
        let parameters = self.parameters.clone();
        let asked = self
            .asked
            .answer(&self.surface, &self.uri, parameters, &self.headers);
        asked.await
    }
}

/// The answers to come. At most one of them is in memory: a client that is slow gets the newest
/// one when it can take one, and whoever takes nothing loses the connection.
pub(super) struct Answers {
    question: Question,
    changes: Changes,
    limits: LiveLimits,
    is_over: watch::Receiver<bool>,
    /// What the client has seen.
    seen: Option<LastSeen>,
    /// The first thing to send.
    first: Option<Event>,
    has_failed: bool,
    /// When the next answer may be looked for.
    next: Instant,
    _place: OwnedSemaphorePermit,
}

impl Answers {
    /// With the first answer, unless the client knows it.
    pub(super) async fn begin(
        question: Question,
        seen: Option<LastSeen>,
        place: OwnedSemaphorePermit,
    ) -> Result<Self, Problem> {
        let Question { asked, surface, .. } = &question;
        // Whoever comes back to an instance that is behind sees nothing older than before.
        let position = seen.as_ref().and_then(|seen| seen.position);
        let wait = surface.limits.position_wait;
        surface
            .positions
            .reach(asked.tables(), position, wait)
            .await?;
        let changes = Changes::of(asked.tables(), &surface.positions);
        let live = surface.live.clone();
        let mut answers = Self {
            question,
            changes,
            limits: live.limits,
            is_over: live.is_over.subscribe(),
            seen,
            first: None,
            has_failed: false,
            next: Instant::now(),
            _place: place,
        };
        let first = answers.ask().await?.unwrap_or_else(sign_of_life);
        answers.first = Some(first.retry(RETRY));
        Ok(answers)
    }

    /// The next event of the stream, and what comes after it.
    pub(super) async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        let mut is_over = self.is_over.clone();
        let event = tokio::select! {
            biased;
            _ = is_over.wait_for(|is_over| *is_over) => return None,
            event = self.event() => event?,
        };
        Some((Ok(event), self))
    }

    async fn event(&mut self) -> Option<Event> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if self.has_failed {
            return None;
        }
        let heartbeat = after(self.limits.heartbeat);
        loop {
            if timeout_at(heartbeat, self.changes.next()).await.is_ok() {
                sleep_until(self.next.min(heartbeat)).await;
            }
            match self.ask().await {
                Ok(Some(answer)) => return Some(answer),
                Ok(None) if Instant::now() >= heartbeat => return Some(sign_of_life()),
                Ok(None) => {}
                Err(problem) => {
                    self.has_failed = true;
                    return Some(Event::default().event("problem").data(problem.to_json()));
                }
            }
        }
    }

    /// The answer, if it is not the one that the client has seen.
    async fn ask(&mut self) -> Result<Option<Event>, Problem> {
        self.next = after(self.limits.gather);
        // What is taken while the query runs may be missing from its answer.
        let position = self.changes.position();
        let json = self.question.answer().await?;
        let tag = digest(json.get());
        if self.seen.as_ref().is_some_and(|seen| seen.tag == tag) {
            return Ok(None);
        }
        let seen = LastSeen { position, tag };
        let event = event(&json, &seen)?;
        self.seen = Some(seen);
        Ok(Some(event))
    }
}

fn event(json: &RawValue, id: &LastSeen) -> Result<Event, Problem> {
    let event = Event::default().id(id.to_string()).json_data(json);
    event.map_err(|error| Problem::internal(&error))
}

/// A comment, which clients pass over.
fn sign_of_life() -> Event {
    Event::default().comment("no change")
}

fn after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now)
}
