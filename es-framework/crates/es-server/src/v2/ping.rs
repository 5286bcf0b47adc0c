//! `GET /api/v2/system/ping` shows that the server runs and offers version 2. It needs no token.

use axum::response::Response;
use serde_json::json;

use crate::single_envelope::single_event;

pub(super) async fn ping() -> Response {
    single_event(
        "/api/v2/system/ping",
        "io.eventsourcingdb.api.ping-received",
        json!({"message": "My God, it's full of stars."}),
    )
}
