//! The webhook: the insurer is told what an appointment cost.

use std::fmt;

use fw::prelude::*;

use crate::appointment::complete::AppointmentCompletedEvent;

/// The address of the insurer.
#[derive(Settings)]
pub struct InsurerSettings {
    /// The URL that is told of each appointment that is over.
    #[setting(default = "http://localhost:9090/appointments")]
    pub insurer_url: String,
}

/// Sends requests to the insurer.
#[derive(Service)]
pub struct InsurerClient {
    http: reqwest::Client,
}

impl InsurerClient {
    /// Creates a client, which has no connection yet.
    pub fn new() -> Self {
        Self {
            http: reqwest::Client::new(),
        }
    }
}

impl Default for InsurerClient {
    fn default() -> Self {
        Self::new()
    }
}

/// The reason why the insurer was not told.
#[derive(Debug)]
pub struct InsurerError(reqwest::Error);

impl fmt::Display for InsurerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the insurer did not take the request: {}", self.0)
    }
}

/// Tells the insurer what was paid.
pub struct InsurerHook;

#[reaction]
impl InsurerHook {
    async fn completed(
        event: &AppointmentCompletedEvent,
        recorded: &RecordedEvent,
        key: &ReactionKey,
        insurer: &InsurerClient,
        settings: &InsurerSettings,
    ) -> Result<(), InsurerError> {
        let body = format!(
            r#"{{"event":"{}","appointment":"{}","cents":{}}}"#,
            recorded.id, event.id, event.fee_cents
        );
        let request = insurer.http.post(&settings.insurer_url);
        let request = request.header("idempotency-key", key.as_str());
        let request = request
            .header("content-type", "application/json")
            .body(body);
        let sent = request
            .send()
            .await
            .and_then(reqwest::Response::error_for_status);
        sent.map(drop).map_err(InsurerError)
    }
}
