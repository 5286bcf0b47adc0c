//! Checks that the server is available and accepts the token.

use reqwest::{Method, StatusCode};
use serde::Deserialize;
use tokio::time::timeout;

use super::{api_version::DataRoute, connection::ServerConnection, detected_version::ApiVersion};
use es_store::StoreError;

/// The longest accepted response to a ping, in bytes.
const PING_LIMIT: usize = 64 * 1024;

/// Pings the server and verifies the token.
pub(super) async fn ping_and_verify_token(connection: &ServerConnection) -> Result<(), StoreError> {
    let within = connection.settings.request_time;
    let checking = async {
        // The server may have been upgraded since the last request.
        match connection.probe().await? {
            ApiVersion::V1 => {
                ping(connection).await?;
                verify_token(connection).await
            }
            ApiVersion::V2 => {
                let path = "api/v2/system/verify-token";
                let request = connection.authorized_request(Method::POST, path);
                let response = connection.send_expecting_ok(request, within).await;
                response.map(drop)
            }
        }
    };
    let outcome = timeout(within, checking).await;
    outcome.unwrap_or_else(|_| {
        let reason = format!("no response within {within:?}");
        Err(connection.unavailable(reason))
    })
}

async fn ping(connection: &ServerConnection) -> Result<(), StoreError> {
    let within = connection.settings.request_time;
    let request = connection.anonymous_get("api/v1/ping");
    let response = connection.send_expecting_ok(request, within).await?;
    let body = connection.read_body(response, PING_LIMIT).await;
    let body = body.map_err(|reason| connection.unavailable(reason))?;
    if is_ping_response(&body) {
        return Ok(());
    }
    Err(connection.corrupt("its response to a ping is not that of an event store"))
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

async fn verify_token(connection: &ServerConnection) -> Result<(), StoreError> {
    let within = connection.settings.request_time;
    let request = connection.authorized_request(Method::POST, "api/v1/verify-api-token");
    let sent = connection.send(request, within).await;
    let response = sent.map_err(|error| connection.unavailable(error.reason))?;
    match response.status() {
        StatusCode::OK => Ok(()),
        // Older servers lack the route. A read of the root subject also needs the token, and costs
        // little because hardly any event has this subject.
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
            let body = br#"{"subject":"/","options":{"recursive":false}}"#.to_vec();
            let request = connection.authorized(ApiVersion::V1, DataRoute::Read("read-events"));
            let request = ServerConnection::with_json(request, body);
            connection
                .send_expecting_ok(request, within)
                .await
                .map(drop)
        }
        _ => Err(connection.error_of(response).await),
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
