//! Requests to the servers of one event store, and the meaning of its error responses.

use std::time::Duration;

use bytes::Bytes;
use es_event::{LINE_BATCHES_HEADER, describe_chain};
use reqwest::{
    Certificate, Client, Method, RequestBuilder, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER},
    redirect,
};
use tokio::time::timeout;

use super::{
    client_settings::{ClientSettings, InvalidClientSettings},
    detected_version::{ApiVersion, DetectedVersion},
    server_list::{ServerList, is_away},
};
use es_store::StoreError;

/// The part of an error response that is read, in bytes.
const ERROR_BYTES: usize = 4 * 1024;
/// The part of an error text that is reported, in characters.
const ERROR_CHARACTERS: usize = 400;

/// The time for reading the text of an error response.
const ERROR_TIME: Duration = Duration::from_secs(5);

/// The lifetime of an idle connection. It is shorter than that of servers, because the outcome of a write
/// is unknown if the server has just closed its connection.
const POOL_IDLE: Duration = Duration::from_secs(10);

/// The HTTP client of one event store and its API token. It is not `Debug`, so that no log shows the token.
pub(super) struct StoreHttpClient {
    client: Client,
    servers: ServerList,
    authorization: HeaderValue,
    /// The base URLs for texts.
    pub(super) address: String,
    pub(super) settings: ClientSettings,
    pub(super) detected: DetectedVersion,
}

/// The error of a request without a response.
pub(super) struct SendError {
    pub(super) reason: String,
    /// The request may have reached the server.
    pub(super) may_have_arrived: bool,
}

impl StoreHttpClient {
    /// Creates a client for the servers of these settings.
    pub(super) fn new(settings: ClientSettings) -> Result<Self, InvalidClientSettings> {
        let servers = ServerList::parse_urls(&settings.url)?;
        let token = &settings.api_token;
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidClientSettings::ApiToken);
        }
        let mut authorization = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| InvalidClientSettings::ApiToken)?;
        authorization.set_sensitive(true);
        let _ = rustls::crypto::ring::default_provider().install_default();
        let certificates = Certificate::from_pem_bundle(&settings.certificates)
            .map_err(|error| InvalidClientSettings::Certificates(describe_chain(&error)))?;
        let client = Client::builder()
            .tls_certs_merge(certificates)
            // Neither a redirect nor the environment may send the token to another server.
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(settings.connect_time)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_nodelay(true)
            .build()
            .map_err(|error| InvalidClientSettings::HttpClient(describe_chain(&error)))?;
        Ok(Self {
            client,
            address: servers.to_string(),
            servers,
            authorization,
            settings,
            detected: DetectedVersion::default(),
        })
    }

    /// Starts a request with the token.
    pub(super) fn authorized_request(&self, method: Method, path: &str) -> RequestBuilder {
        self.request(method, path)
            .header(reqwest::header::AUTHORIZATION, self.authorization.clone())
    }

    /// Starts a GET request without the token.
    pub(super) fn anonymous_get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let current = self.servers.current_url(path);
        let url = current.as_ref().map_or("", |url| url.as_str());
        // Other servers ignore the header.
        self.client
            .request(method, url)
            .header(LINE_BATCHES_HEADER, "true")
    }

    /// Sends a request and waits for the head of its response. A request that did not reach its server
    /// goes to the next one.
    pub(super) async fn send_with_failover(
        &self,
        request: RequestBuilder,
        within: Duration,
    ) -> Result<Response, SendError> {
        let mut request = request.build().map_err(|error| SendError {
            reason: self.describe_error(error),
            may_have_arrived: false,
        })?;
        let mut servers = self.servers.len();
        loop {
            let (url, repeated) = (request.url().clone(), request.try_clone());
            let error = match timeout(within, self.client.execute(request)).await {
                Ok(Ok(response)) => {
                    let path = response.url().path();
                    self.detected.forget_if_rejected(path, response.status());
                    if is_away(response.status()) {
                        self.servers.fail_over(&url);
                    }
                    return Ok(response);
                }
                Ok(Err(error)) => SendError {
                    may_have_arrived: !error.is_connect() && !error.is_builder(),
                    reason: self.describe_error(error),
                },
                Err(_) => SendError {
                    reason: format!("no response within {within:?}"),
                    may_have_arrived: true,
                },
            };
            servers = servers.saturating_sub(1);
            let next = self.servers.fail_over(&url);
            request = match (repeated, next) {
                (Some(mut repeated), Some(next)) if servers > 0 && !error.may_have_arrived => {
                    *repeated.url_mut() = next;
                    repeated
                }
                _ => return Err(error),
            };
        }
    }

    /// Sends a request that changes nothing. Every status except 200 is an error.
    pub(super) async fn send_expecting_ok(
        &self,
        request: RequestBuilder,
        within: Duration,
    ) -> Result<Response, StoreError> {
        let sent = self.send_with_failover(request, within).await;
        let response = sent.map_err(|error| self.unavailable(error.reason))?;
        if response.status() == StatusCode::OK {
            return Ok(response);
        }
        Err(self.error_of(response).await)
    }

    /// Adds a JSON body to a request.
    pub(super) fn with_json(request: RequestBuilder, body: Vec<u8>) -> RequestBuilder {
        let json = HeaderValue::from_static("application/json");
        request.header(CONTENT_TYPE, json).body(body)
    }

    /// Reads the error that a response other than 200 reports. After a write, the caller must tell a definite error from an
    /// unknown outcome.
    pub(super) async fn error_of(&self, response: Response) -> StoreError {
        let status = response.status();
        let requested_pause = response.headers().get(RETRY_AFTER).cloned();
        let text = self.read_error_text(response).await;
        match status {
            StatusCode::UNAUTHORIZED => StoreError::Unauthorized {
                address: self.address.clone(),
            },
            StatusCode::INSUFFICIENT_STORAGE => StoreError::Full(text),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                let value = requested_pause.as_ref();
                let after = value.and_then(|value| value.to_str().ok());
                let hint = after.map(|after| format!(" (Retry-After: {})", self.printable(after)));
                self.unavailable(format!("{status}: {text}{}", hint.unwrap_or_default()))
            }
            status if status.is_server_error() => self.unavailable(format!("{status}: {text}")),
            status if status.is_success() => {
                self.corrupt(format!("it responded with {status} instead of 200"))
            }
            status => StoreError::Refused(format!("{status}: {text}")),
        }
    }

    /// Reads the start of the text of an error response.
    async fn read_error_text(&self, mut response: Response) -> String {
        let mut text = Vec::new();
        let reading = async {
            while text.len() < ERROR_BYTES
                && let Ok(Some(chunk)) = response.chunk().await
            {
                text.extend_from_slice(&chunk);
            }
        };
        // The status counts even if the text breaks off or does not arrive.
        let _ = timeout(ERROR_TIME, reading).await;
        self.printable(&String::from_utf8_lossy(&text))
    }

    /// Prepares a text of the server for errors and logs: short, on one line, and without the token,
    /// which a server could send back.
    pub(super) fn printable(&self, text: &str) -> String {
        let plain = |character: char| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        };
        let text = text.trim().replace(&self.settings.api_token, "***");
        text.chars().map(plain).take(ERROR_CHARACTERS).collect()
    }

    /// Reads the whole body, up to the limit.
    pub(super) async fn read_body(
        &self,
        mut response: Response,
        limit: usize,
    ) -> Result<Bytes, String> {
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| self.describe_error(error))?
        {
            if body.len().saturating_add(chunk.len()) > limit {
                return Err(format!("the response is longer than {limit} bytes"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.into())
    }

    /// Describes an error and its causes without the URL.
    pub(super) fn describe_error(&self, error: reqwest::Error) -> String {
        describe_chain(&error.without_url())
    }

    /// Checks that a body is complete when it ends: in version 2, its last line says so.
    pub(super) fn check_end(&self, version: ApiVersion) -> Result<(), StoreError> {
        match version {
            ApiVersion::V1 => Ok(()),
            ApiVersion::V2 => Err(self.unavailable("the stream broke off")),
        }
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
