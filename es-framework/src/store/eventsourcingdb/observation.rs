//! Observing: an observation that breaks off goes on after the last event that was handed out.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use reqwest::StatusCode;

use super::{
    connection::Connection,
    reconnect::{Outage, Trouble, retry_after},
    streams::{Events, Expected, Link, encode},
    wire,
};
use crate::{
    event::{RecordedEvent, Subject},
    store::{Bound, EventStream, ObserveOptions, Order, StoreError, options::IdRange},
};

/// One observation over any number of answers.
struct Observation {
    connection: Arc<Connection>,
    subject: Subject,
    options: ObserveOptions,
    events: Option<Events>,
    /// The last event that was handed out.
    last: Option<Link>,
    outage: Outage,
}

pub(super) fn observe(
    connection: Arc<Connection>,
    subject: Subject,
    options: ObserveOptions,
) -> EventStream {
    let outage = Outage::none(connection.settings.reconnect);
    let observation = Observation {
        connection,
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

impl Observation {
    async fn next(&mut self) -> Result<RecordedEvent, StoreError> {
        loop {
            match self.attempt().await {
                Ok(event) => {
                    self.last = Some(Link::of(&event));
                    return Ok(event);
                }
                Err(trouble) => {
                    let pause = self.after(trouble)?;
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    async fn attempt(&mut self) -> Result<RecordedEvent, Trouble> {
        let events = match &mut self.events {
            Some(events) => events,
            none => {
                none.insert(begin(&self.connection, &self.subject, &self.options, self.last).await?)
            }
        };
        match events.next().await? {
            Some(event) => Ok(event),
            None => Err(self.connection.unavailable("the observation ended").into()),
        }
    }

    /// Decides whether to go on, and from where.
    fn after(&mut self, trouble: Trouble) -> Result<Duration, StoreError> {
        let events = self.events.take();
        if let Some(events) = &events
            && events.is_alive
        {
            self.outage.is_over();
        }
        match self.last {
            Some(last) => {
                self.options.lower_bound = Some(Bound::Exclusive(last.id));
                self.options.from_latest_event = None;
            }
            // The server had chosen a start that it did not tell: asked again, it may choose a
            // later one and leave events out.
            None if events.is_some() && self.options.from_latest_event.is_some() => {
                return Err(trouble.error);
            }
            None => {}
        }
        self.outage.pause(trouble)
    }
}

async fn begin(
    connection: &Arc<Connection>,
    subject: &Subject,
    options: &ObserveOptions,
    last: Option<Link>,
) -> Result<Events, Trouble> {
    options.check().map_err(StoreError::from)?;
    let body = encode(&wire::Read::endless(subject, options))?;
    let silence = connection.settings.observe_silence;
    let request = Connection::json(connection.post("observe-events"), body);
    let sent = connection.send(request, silence).await;
    let answer = sent.map_err(|failure| connection.unavailable(failure.reason))?;
    if answer.status() != StatusCode::OK {
        return Err(Trouble {
            retry_after: retry_after(&answer),
            error: connection.refusal(answer).await,
        });
    }
    let expected = Expected {
        subject: subject.clone(),
        recursive: options.recursive,
        order: Order::Chronological,
        range: IdRange::of(options.lower_bound, None),
    };
    let connection = Arc::clone(connection);
    Ok(Events::new(connection, answer, silence, expected, last))
}
