//! An HTTP client that calls an application in process.

use std::time::Duration;

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header},
};
use serde::{Serialize, de::DeserializeOwned};
use tower::ServiceExt as _;

use crate::{Error, Result, event::Caller, http::auth::assume_caller};

/// Longest time from a request to the end of its response.
const TIMEOUT: Duration = Duration::from_secs(90);
/// Longest body of a response, in bytes.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// An HTTP client that calls an application in process, without a socket. The request passes all
/// limits, authentication and logging. Cheap to clone.
///
/// ```
/// use es_framework::{Application, Result};
///
/// /// Purchases a book and returns the position of its event.
/// async fn purchase(application: &Application, title: &str) -> Result<Option<String>> {
///     let client = application.client().with_bearer("a token of the file");
///     let body = serde_json::json!({ "title": title });
///     let response = client.post("/books/purchase", &body).await?;
///     Ok(response.header("event-position").map(str::to_owned))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct ApplicationClient {
    router: Router,
    headers: HeaderMap,
    caller: Caller,
}

/// A response with its whole body.
///
/// ```
/// use es_framework::{Application, Result};
///
/// async fn is_healthy(application: &Application) -> Result<bool> {
///     let response = application.client().get("/actuator/health").await?;
///     let report: serde_json::Value = response.json()?;
///     Ok(report["status"] == "UP")
/// }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientResponse {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl ApplicationClient {
    pub(super) fn new(router: Router) -> Self {
        let (headers, caller) = (HeaderMap::new(), Caller::Anyone);
        Self {
            router,
            headers,
            caller,
        }
    }

    /// Returns a client that sends this header with every request. A value that no header can hold is
    /// left out.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Returns a client that sends this bearer token with every request.
    #[must_use]
    pub fn with_bearer(self, token: &str) -> Self {
        self.with_header(header::AUTHORIZATION, &format!("Bearer {token}"))
    }

    /// Returns a client whose requests come from this caller, without a credential. Roles and rules about the owner hold
    /// for it, also if the service has no authentication.
    ///
    /// ```
    /// use es_framework::{Application, Result, prelude::Caller};
    ///
    /// /// Returns whether readers may see all overdue loans.
    /// async fn is_shown_to_readers(application: &Application) -> Result<bool> {
    ///     let ada = Caller::authenticated("ada", ["reader"]).with_owner_id("7");
    ///     let response = application.client().with_caller(&ada).get("/loans/overdue").await?;
    ///     Ok(response.status == 200)
    /// }
    /// ```
    #[must_use]
    pub fn with_caller(self, caller: &Caller) -> Self {
        let caller = caller.clone();
        Self { caller, ..self }
    }

    /// Sends a `GET` request.
    ///
    /// # Errors
    /// As [`ApplicationClient::send`].
    pub async fn get(&self, path: &str) -> Result<ClientResponse> {
        self.send(self.request(Method::GET, path, Body::empty())?)
            .await
    }

    /// Sends a `POST` request with a body of JSON.
    ///
    /// # Errors
    /// The body cannot be written as JSON, or the request fails as in [`ApplicationClient::send`].
    pub async fn post(&self, path: &str, body: &impl Serialize) -> Result<ClientResponse> {
        let body = serde_json::to_vec(body)
            .map_err(|error| Error::because("the body cannot be written as JSON", error))?;
        let mut request = self.request(Method::POST, path, body.into())?;
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(header::CONTENT_TYPE, json);
        self.send(request).await
    }

    /// Sends any request and reads the whole response. A response that never ends, such as that of a
    /// live query, is for [`Application::router`](crate::Application::router).
    ///
    /// # Errors
    /// The response takes too long, breaks off, or is longer than 64 MiB.
    pub async fn send(&self, mut request: Request<Body>) -> Result<ClientResponse> {
        assume_caller(&mut request, &self.caller);
        let response = async {
            let response = self.router.clone().oneshot(request).await;
            let (parts, body) = response.unwrap_or_else(|never| match never {}).into_parts();
            let body = to_bytes(body, MAX_BODY).await;
            let body = body.map_err(|error| Error::because("the response broke off", error))?;
            Ok(ClientResponse {
                status: parts.status.as_u16(),
                headers: parts.headers,
                body,
            })
        };
        tokio::time::timeout(TIMEOUT, response)
            .await
            .map_err(|error| Error::because("the response takes too long", error))?
    }

    fn request(&self, method: Method, path: &str, body: Body) -> Result<Request<Body>> {
        let request = Request::builder().method(method).uri(path).body(body);
        let mut request =
            request.map_err(|error| Error::because(format!("{path} is not a path"), error))?;
        request.headers_mut().extend(self.headers.clone());
        Ok(request)
    }
}

impl ClientResponse {
    /// Returns the value of a header, if it is there and is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Reads the body as JSON.
    ///
    /// # Errors
    /// The body is no JSON of this type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Error::because("the response is not the expected JSON", error))
    }

    /// Returns the body as text. Bytes that are not UTF-8 become `U+FFFD`.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}
