//! Observes events. An interrupted observation continues after the last event that it returned.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use reqwest::StatusCode;

use super::{
    api_version::DataRoute,
    event_reader::{ChainLink, EventReader, ExpectedEvents, encode_request_body},
    http_client::StoreHttpClient,
    reconnect::{FailedAttempt, Outage, requested_pause},
    request_bodies::ReadOrObserveBody,
};
use es_event::{RecordedEvent, Subject};
use es_store::{Bound, EventStream, ObserveOptions, Order, StoreError, options::IdRange};

/// One observation over any number of connections.
struct ReconnectingObservation {
    http_client: Arc<StoreHttpClient>,
    subject: Subject,
    options: ObserveOptions,
    events: Option<EventReader>,
    /// The last event that the observation received.
    last: Option<ChainLink>,
    outage: Outage,
}

/// Observes the events of a subject.
pub(super) fn observe_subject(
    http_client: Arc<StoreHttpClient>,
    subject: Subject,
    options: ObserveOptions,
) -> EventStream {
    let outage = Outage::new(http_client.settings.reconnect);
    let observation = ReconnectingObservation {
        http_client,
        subject,
        options,
        events: None,
        last: None,
        outage,
    };
    let events = stream::try_unfold(observation, |mut observation| async {
        let event = observation.next().await?;
        Ok(Some((event, observation)))
    });
    events.boxed()
}

impl ReconnectingObservation {
    /// Returns the next event. Connects again after failures.
    async fn next(&mut self) -> Result<RecordedEvent, StoreError> {
        loop {
            match self.try_next().await {
                Ok(event) => {
                    self.last = Some(ChainLink::from_event(&event));
                    return Ok(event);
                }
                Err(failure) => {
                    let pause = self.prepare_retry(failure)?;
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    async fn try_next(&mut self) -> Result<RecordedEvent, FailedAttempt> {
        let events = match &mut self.events {
            Some(events) => events,
            none => none
                .insert(connect(&self.http_client, &self.subject, &self.options, self.last).await?),
        };
        match events.next_event().await? {
            Some(event) => Ok(event),
            None => Err(self.http_client.unavailable("the observation ended").into()),
        }
    }

    /// Sets the start of the next attempt and returns the pause before it.
    ///
    /// # Errors
    /// Another attempt would not help or could leave events out.
    fn prepare_retry(&mut self, failure: FailedAttempt) -> Result<Duration, StoreError> {
        let events = self.events.take();
        if let Some(events) = &events
            && events.is_alive
        {
            self.outage.forget_failures();
        }
        match self.last {
            Some(last) => {
                self.options.lower_bound = Some(Bound::Exclusive(last.id));
                self.options.from_latest_event = None;
            }
            // The server chose a start that the client does not know. The next time it may choose a
            // later one and leave events out.
            None if events.is_some() && self.options.from_latest_event.is_some() => {
                return Err(failure.error);
            }
            None => {}
        }
        self.outage.next_pause(failure)
    }
}

/// Sends the request and returns the reader of its events.
async fn connect(
    http_client: &Arc<StoreHttpClient>,
    subject: &Subject,
    options: &ObserveOptions,
    last: Option<ChainLink>,
) -> Result<EventReader, FailedAttempt> {
    options.check().map_err(StoreError::from)?;
    let body = encode_request_body(&ReadOrObserveBody::of_observation(subject, options))?;
    let silence = http_client.settings.observe_silence;
    let version = http_client.version().await?;
    let authorized = http_client.authorized(version, DataRoute::Read("observe-events"));
    let request = StoreHttpClient::with_json(authorized, body);
    let sent = http_client.send_with_failover(request, silence).await;
    let response = sent.map_err(|error| http_client.unavailable(error.reason))?;
    if response.status() != StatusCode::OK {
        return Err(FailedAttempt {
            requested_pause: requested_pause(&response),
            error: http_client.error_of(response).await,
        });
    }
    let expected = ExpectedEvents {
        version,
        subject: subject.clone(),
        recursive: options.recursive,
        order: Order::Chronological,
        range: IdRange::from_bounds(options.lower_bound, None),
    };
    let http_client = Arc::clone(http_client);
    Ok(EventReader::new(
        http_client,
        response,
        silence,
        expected,
        last,
    ))
}
