//! Whether the server is there and takes the token.

use reqwest::StatusCode;
use serde::Deserialize;
use tokio::time::timeout;

use super::connection::Connection;
use crate::store::StoreError;

/// The longest answer to a ping that is read, in bytes.
const PING: usize = 64 * 1024;

pub(super) async fn check(connection: &Connection) -> Result<(), StoreError> {
    let within = connection.settings.request_time;
    let checking = async {
        ping(connection).await?;
        verify_token(connection).await
    };
    let checked = timeout(within, checking).await;
    checked.unwrap_or_else(|_| Err(connection.unavailable(format!("no answer within {within:?}"))))
}

async fn ping(connection: &Connection) -> Result<(), StoreError> {
    let within = connection.settings.request_time;
    let answer = connection.ask(connection.get("ping"), within).await?;
    let body = connection.body(answer, PING).await;
    let body = body.map_err(|reason| connection.unavailable(reason))?;
    if is_pong(&body) {
        return Ok(());
    }
    Err(connection.corrupt("it answers a ping as no event store does"))
}

/// Each generation of the server answers in its own way.
fn is_pong(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Pong {
        status: Option<String>,
        r#type: Option<String>,
    }
    if body.trim_ascii() == b"OK" {
        return true;
    }
    serde_json::from_slice(body).is_ok_and(|Pong { status, r#type }| {
        status.as_deref() == Some("ok")
            || r#type.is_some_and(|r#type| r#type.ends_with(".ping-received"))
    })
}

async fn verify_token(connection: &Connection) -> Result<(), StoreError> {
    let within = connection.settings.request_time;
    let request = connection.post("verify-api-token");
    let sent = connection.send(request, within).await;
    let answer = sent.map_err(|failure| connection.unavailable(failure.reason))?;
    match answer.status() {
        StatusCode::OK => Ok(()),
        // Older servers lack the route. Hardly any event has the root itself as its subject, so
        // reading it costs little.
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
            let body = br#"{"subject":"/","options":{"recursive":false}}"#.to_vec();
            let request = Connection::json(connection.post("read-events"), body);
            connection.ask(request, within).await.map(drop)
        }
        _ => Err(connection.refusal(answer).await),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ping_is_answered_in_three_ways() {
        for pong in [
            "OK",
            "OK\n",
            r#"{"status":"ok"}"#,
            r#"{"specversion":"1.0","type":"io.eventsourcingdb.api.ping-received","data":{}}"#,
            r#"{"type":"io.eventsourcingdb.ping-received"}"#,
        ] {
            assert!(is_pong(pong.as_bytes()), "{pong}");
        }
        for other in [
            "",
            "ok?",
            "<html>OK</html>",
            "{}",
            r#"{"status":"down"}"#,
            "null",
        ] {
            assert!(!is_pong(other.as_bytes()), "{other}");
        }
    }
}
