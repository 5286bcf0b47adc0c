//! Checks that the server is available and accepts the token.

use reqwest::{Method, StatusCode};
use serde::Deserialize;
use tokio::time::timeout;

use super::{api_version::DataRoute, detected_version::ApiVersion, http_client::StoreHttpClient};
use es_store::StoreError;

/// The longest accepted response to a ping, in bytes.
const PING_LIMIT: usize = 64 * 1024;

/// Pings the server and verifies the token.
pub(super) async fn ping_and_verify_token(http_client: &StoreHttpClient) -> Result<(), StoreError> {
    let within = http_client.settings.request_time;
    let checking = async {
        // The server may have been upgraded since the last request.
        match http_client.probe().await? {
            ApiVersion::V1 => {
                ping(http_client).await?;
                verify_token(http_client).await
            }
            ApiVersion::V2 => {
                let path = "api/v2/system/verify-token";
                let request = http_client.authorized_request(Method::POST, path);
                let response = http_client.send_expecting_ok(request, within).await;
                response.map(drop)
            }
        }
    };
    let outcome = timeout(within, checking).await;
    outcome.unwrap_or_else(|_| {
        let reason = format!("no response within {within:?}");
        Err(http_client.unavailable(reason))
    })
}

async fn ping(http_client: &StoreHttpClient) -> Result<(), StoreError> {
    let within = http_client.settings.request_time;
    let request = http_client.anonymous_get("api/v1/ping");
    let response = http_client.send_expecting_ok(request, within).await?;
    let read = http_client.read_body(response, PING_LIMIT).await;
    let body = read.map_err(|reason| http_client.unavailable(reason))?;
    if is_ping_response(&body) {
        return Ok(());
    }
    Err(http_client.corrupt("its response to a ping is not that of an event store"))
}

/// Returns whether a body is the response to a ping. Each protocol generation has its own response.
fn is_ping_response(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct PingResponse {
        status: Option<String>,
        r#type: Option<String>,
    }
    if body.trim_ascii() == b"OK" {
        return true;
    }
    serde_json::from_slice(body).is_ok_and(|PingResponse { status, r#type }| {
        status.as_deref() == Some("ok")
            || r#type.is_some_and(|r#type| r#type.ends_with(".ping-received"))
    })
}

async fn verify_token(http_client: &StoreHttpClient) -> Result<(), StoreError> {
    let within = http_client.settings.request_time;
    let request = http_client.authorized_request(Method::POST, "api/v1/verify-api-token");
    let sent = http_client.send_with_failover(request, within).await;
    let response = sent.map_err(|error| http_client.unavailable(error.reason))?;
    match response.status() {
        StatusCode::OK => Ok(()),
        // Older servers lack the route. A read of the root subject also needs the token, and costs
        // little because hardly any event has this subject.
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
            let body = br#"{"subject":"/","options":{"recursive":false}}"#.to_vec();
            let empty = http_client.authorized(ApiVersion::V1, DataRoute::Read("read-events"));
            let request = StoreHttpClient::with_json(empty, body);
            http_client
                .send_expecting_ok(request, within)
                .await
                .map(drop)
        }
        _ => Err(http_client.error_of(response).await),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ping_is_answered_in_three_ways() {
        for response in [
            "OK",
            "OK\n",
            r#"{"status":"ok"}"#,
            r#"{"specversion":"1.0","type":"io.eventsourcingdb.api.ping-received","data":{}}"#,
            r#"{"type":"io.eventsourcingdb.ping-received"}"#,
        ] {
            assert!(is_ping_response(response.as_bytes()), "{response}");
        }
        for other in [
            "",
            "ok?",
            "<html>OK</html>",
            "{}",
            r#"{"status":"down"}"#,
            "null",
        ] {
            assert!(!is_ping_response(other.as_bytes()), "{other}");
        }
    }
}
