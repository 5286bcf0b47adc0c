//! The transport to a webhook: CloudEvents 1.0 over HTTP in structured mode, signed as in Standard Webhooks.

use std::{fmt, num::NonZeroUsize, time::Duration};

use async_trait::async_trait;
use es_event::TraceContext;
use jiff::{Timestamp, fmt::rfc2822};
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{CONTENT_TYPE, RETRY_AFTER},
    redirect,
};
use sha2::{Digest as _, Sha256};
use standardwebhooks::{
    HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP, Webhook,
};

use crate::{
    CloudEvent, DeliveryError, LONGEST_PAUSE, Transport,
    address::AddressPolicy,
    batch::{BatchItem, BatchQueue},
    public_event::MEDIA_TYPE,
};

const BATCH: &str = "application/cloudevents-batch+json";
const TRACEPARENT: &str = "traceparent";
/// The time of a request, up to the last byte of its response.
const TIMEOUT: Duration = Duration::from_secs(15);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The time in which the body of a success may end, so that the connection serves the next request.
const BODY_OF_SUCCESS: Duration = Duration::from_millis(500);
/// The most bytes of a response that are read.
const MAX_BODY: usize = 64 << 10;
/// The most characters of a response in the reason of a failure.
const MAX_REASON: usize = 200;
/// The least length of a secret in base 64: the specification asks for 24 bytes.
const MIN_SECRET: usize = 32;

/// The settings of a webhook. It is not `Debug`, so that no log shows the secrets.
pub struct WebhookSettings {
    /// The address.
    pub url: String,
    /// The secrets, as `whsec_` and their bytes in base 64. The receiver accepts a signature with one of them.
    pub secrets: Vec<String>,
    /// The most events of a request. Without it, each event has a request of its own.
    pub batch: Option<NonZeroUsize>,
    /// True if the address may be one of a private network or of this machine.
    pub allow_private: bool,
}

/// Delivers to a webhook.
pub struct WebhookTransport {
    client: Client,
    url: Url,
    signers: Vec<Webhook>,
    batch: Option<BatchQueue>,
}

/// The failure of one request.
struct FailedRequest {
    error: DeliveryError,
    /// The receiver refuses the content, so that a part of it may be accepted.
    is_refusal: bool,
}

impl WebhookTransport {
    /// Creates the transport.
    ///
    /// # Errors
    /// The address or a secret is refused. The reason shows no secret.
    pub fn new(settings: WebhookSettings) -> Result<Self, String> {
        let WebhookSettings { url, secrets, .. } = settings;
        let parsed = AddressPolicy::for_url(&url, settings.allow_private);
        let (url, policy) = parsed.map_err(|error| error.to_string())?;
        if !matches!(secrets.len(), 1 | 2) {
            return Err("a webhook has one secret, or two while they rotate".to_owned());
        }
        let signers = secrets.iter().map(|secret| parse_secret(secret));
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            // Neither a redirect nor the environment may send the events elsewhere.
            .redirect(redirect::Policy::none())
            .no_proxy()
            .dns_resolver(policy)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .tcp_nodelay(true)
            .user_agent(concat!("es-framework/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            client: client.map_err(describe_error)?,
            url,
            signers: signers.collect::<Result<_, _>>()?,
            batch: settings.batch.map(BatchQueue::new),
        })
    }

    /// Sends one request, and waits until the receiver has confirmed it.
    async fn post(
        &self,
        id: &str,
        content_type: &'static str,
        body: Vec<u8>,
        trace: Option<&TraceContext>,
    ) -> Result<(), FailedRequest> {
        let failed = |reason: String| FailedRequest {
            error: DeliveryError::Failed(reason),
            is_refusal: false,
        };
        let time = Timestamp::now().as_second();
        let signatures = self.signers.iter();
        let signatures = signatures.map(|signer| signer.sign(id, time, &body));
        let signatures: Result<Vec<_>, _> = signatures.collect();
        let signatures = signatures.map_err(|error| failed(error.to_string()))?;
        let request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, content_type)
            .header(HEADER_WEBHOOK_ID, id)
            .header(HEADER_WEBHOOK_TIMESTAMP, time)
            .header(HEADER_WEBHOOK_SIGNATURE, signatures.join(" "))
            .body(body);
        let traced = match trace {
            Some(trace) => request.header(TRACEPARENT, trace.parent()),
            None => request,
        };
        let response = traced.send().await;
        check_response(response.map_err(|error| failed(describe_error(error)))?).await
    }

    /// Delivers events together with others that wait. The first caller that gets the turn sends for all.
    async fn deliver_together(
        &self,
        queue: &BatchQueue,
        ids: Vec<String>,
        json: Vec<u8>,
    ) -> Result<(), DeliveryError> {
        let mut received = queue.push(ids, json);
        loop {
            tokio::select! {
                biased;
                result = &mut received => {
                    let given_up = || DeliveryError::Failed("the request was given up".to_owned());
                    return result.unwrap_or_else(|_| Err(given_up()));
                }
                _turn = queue.wait_for_turn() => {
                    let batch = queue.take_batch();
                    if !batch.is_empty() {
                        self.post_batch(batch).await;
                    }
                }
            }
        }
    }

    /// Sends a batch. If the receiver refuses its content, sends the deliveries one after the other.
    async fn post_batch(&self, batch: Vec<BatchItem>) {
        match self.post_together(&batch).await {
            Err(failed) if failed.is_refusal && batch.len() > 1 => {
                for item in batch {
                    let posted = self.post_together(std::slice::from_ref(&item)).await;
                    item.send_result(posted.map_err(|failed| failed.error));
                }
            }
            posted => {
                let result = posted.map_err(|failed| failed.error);
                for item in batch {
                    item.send_result(result.clone());
                }
            }
        }
    }

    async fn post_together(&self, items: &[BatchItem]) -> Result<(), FailedRequest> {
        let mut hasher = Sha256::new();
        for id in items.iter().flat_map(|item| &item.ids) {
            hasher.update(id.as_bytes());
            hasher.update([0]);
        }
        let id = es_event::hex(&hasher.finalize());
        let parts: Vec<_> = items.iter().map(|item| &*item.json).collect();
        let body = [&b"["[..], &parts.join(&b','), b"]"].concat();
        self.post(&id, BATCH, body, None).await
    }
}

#[async_trait]
impl Transport for WebhookTransport {
    async fn deliver(&self, events: &[CloudEvent]) -> Result<(), DeliveryError> {
        let written: Result<Vec<_>, _> = events.iter().map(serde_json::to_vec).collect();
        let written = written.map_err(|error| DeliveryError::Failed(error.to_string()))?;
        if let Some(queue) = &self.batch {
            let ids = events.iter().map(|event| event.id.clone()).collect();
            return self.deliver_together(queue, ids, written.join(&b',')).await;
        }
        for (event, body) in events.iter().zip(written) {
            let posted = self.post(&event.id, MEDIA_TYPE, body, event.trace.as_ref());
            posted.await.map_err(|failed| failed.error)?;
        }
        Ok(())
    }
}

/// Shows the host alone, because the rest of an address may be a secret.
impl fmt::Debug for WebhookTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookTransport")
            .field("host", &self.url.host_str())
            .finish_non_exhaustive()
    }
}

fn parse_secret(secret: &str) -> Result<Webhook, String> {
    let invalid = || {
        "a secret is `whsec_` and 24 bytes or more in base 64, as `echo whsec_$(openssl rand -base64 32)` prints it".to_owned()
    };
    let encoded = secret.strip_prefix("whsec_").ok_or_else(invalid)?;
    if encoded.len() < MIN_SECRET {
        return Err(invalid());
    }
    Webhook::new(secret).map_err(|_| invalid())
}

/// Returns the error and its causes without the address.
fn describe_error(error: reqwest::Error) -> String {
    es_event::describe_chain(&error.without_url())
}

async fn check_response(mut response: Response) -> Result<(), FailedRequest> {
    let status = response.status();
    if status.is_success() {
        let _ = tokio::time::timeout(BODY_OF_SUCCESS, read_text(&mut response)).await;
        return Ok(());
    }
    let pause = parse_retry_after(&response, Timestamp::now());
    let reason = match read_text(&mut response).await {
        text if text.is_empty() => format!("the receiver answers {status}"),
        text => format!("the receiver answers {status}: {text}"),
    };
    let error = match (status, pause) {
        (StatusCode::GONE, _) => DeliveryError::Ended(reason),
        (StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, Some(pause)) => {
            DeliveryError::Later { reason, pause }
        }
        _ if status.is_redirection() => DeliveryError::Failed(format!(
            "the receiver answers {status}, and redirects are not followed: write the address to which it leads into the settings"
        )),
        _ => DeliveryError::Failed(reason),
    };
    let is_refusal = matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY
    );
    Err(FailedRequest { error, is_refusal })
}

/// Reads a part of the body, and returns the beginning of its text without control characters.
async fn read_text(response: &mut Response) -> String {
    let mut body = Vec::new();
    while body.len() < MAX_BODY
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    let text = String::from_utf8_lossy(&body);
    let printable = text.chars().filter(|character| !character.is_control());
    printable.take(MAX_REASON).collect()
}

/// Returns the pause that a response asks for: in seconds, or until a date.
fn parse_retry_after(response: &Response, now: Timestamp) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    let pause = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let date = rfc2822::parse(value).ok()?.timestamp();
            Duration::try_from(date.duration_since(now)).unwrap_or_default()
        }
    };
    Some(pause.min(LONGEST_PAUSE))
}

#[cfg(test)]
mod tests;
