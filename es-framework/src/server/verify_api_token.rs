//! `POST /api/v1/verify-api-token`: whether the token is the right one. The body does not matter:
//! clients send none, an empty one or `{}`.

use axum::response::Response;
use serde_json::json;

use super::{auth::Authorized, ping::management_event};

pub(super) async fn verify_api_token(_: Authorized) -> Response {
    management_event(
        "/api/v1/verify-api-token",
        "io.eventsourcingdb.api.api-token-verified",
        json!({}),
    )
}
