//! Requests to one server, and what its refusals mean.

use std::{error::Error, time::Duration};

use bytes::Bytes;
use reqwest::{
    Certificate, Client, Method, RequestBuilder, Response, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER},
    redirect,
};
use tokio::time::timeout;

use super::{InvalidSettings, Settings, base_url};
use crate::store::StoreError;

/// How much of a refusal is read, in bytes, and how much of it is told, in characters.
const REFUSAL: usize = 4 * 1024;
const TOLD: usize = 400;

/// How long the text of a refusal is waited for.
const REFUSAL_TIME: Duration = Duration::from_secs(5);

/// Shorter than servers keep an idle connection open: a write on one that the server has just
/// closed would end without a known outcome.
const POOL_IDLE: Duration = Duration::from_secs(10);

/// One server and the secret shared with it. Not `Debug`, so that the secret is shown nowhere.
pub(super) struct Connection {
    client: Client,
    base: Url,
    authorization: HeaderValue,
    /// The base URL as it may be shown.
    pub(super) address: String,
    pub(super) settings: Settings,
}

/// An answer that did not come.
pub(super) struct NoAnswer {
    pub(super) reason: String,
    /// Whether the request can have reached the server.
    pub(super) sent: bool,
}

impl Connection {
    pub(super) fn new(settings: Settings) -> Result<Self, InvalidSettings> {
        let base = base_url(&settings.url)?;
        let token = &settings.api_token;
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidSettings::ApiToken);
        }
        let mut authorization = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| InvalidSettings::ApiToken)?;
        authorization.set_sensitive(true);
        crate::net::tls::install_cryptography();
        let certificates = Certificate::from_pem_bundle(&settings.certificates)
            .map_err(|error| InvalidSettings::Certificates(chain(&error)))?;
        let client = Client::builder()
            .tls_certs_merge(certificates)
            // The token goes to this server and to no other that an answer or the environment
            // may name.
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(settings.connect_time)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_nodelay(true)
            .build()
            .map_err(|error| InvalidSettings::Client(chain(&error)))?;
        Ok(Self {
            client,
            address: base.as_str().trim_end_matches('/').to_owned(),
            base,
            authorization,
            settings,
        })
    }

    /// A request with the token.
    pub(super) fn post(&self, route: &str) -> RequestBuilder {
        self.request(Method::POST, route)
            .header(reqwest::header::AUTHORIZATION, self.authorization.clone())
    }

    /// A request without it.
    pub(super) fn get(&self, route: &str) -> RequestBuilder {
        self.request(Method::GET, route)
    }

    fn request(&self, method: Method, route: &str) -> RequestBuilder {
        let mut url = self.base.clone();
        let path = format!("{}api/v1/{route}", url.path());
        url.set_path(&path);
        self.client.request(method, url)
    }

    /// Waits for the head of the answer.
    pub(super) async fn send(
        &self,
        request: RequestBuilder,
        within: Duration,
    ) -> Result<Response, NoAnswer> {
        match timeout(within, request.send()).await {
            Ok(answer) => answer.map_err(|error| NoAnswer {
                sent: !error.is_connect() && !error.is_builder(),
                reason: self.describe(error),
            }),
            Err(_) => Err(NoAnswer {
                reason: format!("no answer within {within:?}"),
                sent: true,
            }),
        }
    }

    /// Sends what changes nothing, and turns everything but a 200 into an error.
    pub(super) async fn ask(
        &self,
        request: RequestBuilder,
        within: Duration,
    ) -> Result<Response, StoreError> {
        let sent = self.send(request, within).await;
        let answer = sent.map_err(|failure| self.unavailable(failure.reason))?;
        if answer.status() == StatusCode::OK {
            return Ok(answer);
        }
        Err(self.refusal(answer).await)
    }

    pub(super) fn json(request: RequestBuilder, body: Vec<u8>) -> RequestBuilder {
        let json = HeaderValue::from_static("application/json");
        request.header(CONTENT_TYPE, json).body(body)
    }

    /// What an answer other than a 200 means, as far as nothing was to be changed.
    pub(super) async fn refusal(&self, answer: Response) -> StoreError {
        let status = answer.status();
        let retry_after = answer.headers().get(RETRY_AFTER).cloned();
        let text = self.refusal_text(answer).await;
        match status {
            StatusCode::UNAUTHORIZED => StoreError::Unauthorized {
                address: self.address.clone(),
            },
            StatusCode::INSUFFICIENT_STORAGE => StoreError::Full(text),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                let after = retry_after.as_ref().and_then(|value| value.to_str().ok());
                let after = after.map(|after| format!(" (Retry-After: {})", self.shown(after)));
                self.unavailable(format!("{status}: {text}{}", after.unwrap_or_default()))
            }
            status if status.is_server_error() => self.unavailable(format!("{status}: {text}")),
            status if status.is_success() => {
                self.corrupt(format!("it answered {status} where 200 was due"))
            }
            status => StoreError::Refused(format!("{status}: {text}")),
        }
    }

    /// The beginning of what a refusal says.
    async fn refusal_text(&self, mut answer: Response) -> String {
        let mut text = Vec::new();
        let reading = async {
            while text.len() < REFUSAL
                && let Ok(Some(chunk)) = answer.chunk().await
            {
                text.extend_from_slice(&chunk);
            }
        };
        // A text that breaks off or does not come is no reason to lose the status.
        let _ = timeout(REFUSAL_TIME, reading).await;
        self.shown(&String::from_utf8_lossy(&text))
    }

    /// A text of the server as it may be shown: short, on one line, and never with the token,
    /// which a server could send back.
    pub(super) fn shown(&self, text: &str) -> String {
        let plain = |character: char| match character.is_control() {
            true => ' ',
            false => character,
        };
        let text = text.trim().replace(&self.settings.api_token, "***");
        text.chars().map(plain).take(TOLD).collect()
    }

    /// The whole body, if it is no longer than the limit.
    pub(super) async fn body(&self, mut answer: Response, limit: usize) -> Result<Bytes, String> {
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| self.describe(error))? {
            if body.len().saturating_add(chunk.len()) > limit {
                return Err(format!("the answer is longer than {limit} bytes"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.into())
    }

    pub(super) fn describe(&self, error: reqwest::Error) -> String {
        chain(&error.without_url())
    }

    pub(super) fn unavailable(&self, reason: impl Into<String>) -> StoreError {
        StoreError::Unavailable {
            address: self.address.clone(),
            reason: reason.into(),
        }
    }

    pub(super) fn corrupt(&self, reason: impl Into<String>) -> StoreError {
        StoreError::Corrupt {
            address: self.address.clone(),
            reason: reason.into(),
        }
    }
}

/// An error and its causes: the outermost alone says no more than that sending failed.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
