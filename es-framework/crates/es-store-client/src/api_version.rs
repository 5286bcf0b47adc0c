//! Requests to the version of the API that the server offers. Version 2 is preferred.

use reqwest::{Method, RequestBuilder, StatusCode, header::SERVER};
use serde::Deserialize;

use super::{
    detected_version::{ApiVersion, V2, is_not_offered},
    http_client::StoreHttpClient,
};
use es_store::StoreError;

/// The longest accepted response to a ping, in bytes.
const PING_LIMIT: usize = 64 * 1024;

/// An endpoint that reads or writes the data of the store. Version 2 has a method of its own for reads.
#[derive(Debug, Clone, Copy)]
pub(super) enum DataRoute {
    Read(&'static str),
    Write(&'static str),
}

impl StoreHttpClient {
    /// Returns the version to use. The first call asks the server.
    pub(super) async fn version(&self) -> Result<ApiVersion, StoreError> {
        match self.detected.get() {
            Some(version) => Ok(version),
            None => self.probe().await,
        }
    }

    /// Asks the server if it offers version 2, and remembers the response. An error is not remembered.
    pub(super) async fn probe(&self) -> Result<ApiVersion, StoreError> {
        let within = self.settings.request_time;
        let request = self.anonymous_get("api/v2/system/ping");
        let sent = self.send_with_failover(request, within).await;
        let response = sent.map_err(|error| self.unavailable(error.reason))?;
        let status = response.status();
        let version = if is_not_offered(status) {
            ApiVersion::V1
        } else if status == StatusCode::OK {
            let name = response.headers().get(SERVER).cloned();
            let name = name.as_ref().and_then(|name| name.to_str().ok());
            if !name.is_some_and(|name| name.starts_with("EventSourcingDB/")) {
                return Err(self.corrupt("its header Server is not that of an event store"));
            }
            let body = self.read_body(response, PING_LIMIT).await;
            let body = body.map_err(|reason| self.unavailable(reason))?;
            if !is_ping_envelope(&body) {
                return Err(self.corrupt("its response to a ping is not that of an event store"));
            }
            ApiVersion::V2
        } else {
            return Err(self.error_of(response).await);
        };
        self.detected.set(Some(version));
        Ok(version)
    }

    /// Starts a request with the token to an endpoint that reads or writes the data of the store.
    pub(super) fn authorized(&self, version: ApiVersion, route: DataRoute) -> RequestBuilder {
        let (DataRoute::Read(name) | DataRoute::Write(name)) = route;
        match version {
            ApiVersion::V1 => self.authorized_request(Method::POST, &format!("api/v1/{name}")),
            ApiVersion::V2 => {
                let method = match route {
                    // RFC 10008: safe, and with a body. No valid method name is rejected here.
                    DataRoute::Read(_) => Method::from_bytes(b"QUERY").unwrap_or(Method::POST),
                    DataRoute::Write(_) => Method::POST,
                };
                self.authorized_request(method, &format!("{V2}data/{name}"))
            }
        }
    }
}

fn is_ping_envelope(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct PingEnvelope {
        r#type: String,
        data: PingEvent,
    }
    #[derive(Deserialize)]
    struct PingEvent {
        r#type: String,
    }
    serde_json::from_slice(body).is_ok_and(|PingEnvelope { r#type, data }| {
        r#type == "event" && data.r#type == "io.eventsourcingdb.api.ping-received"
    })
}
