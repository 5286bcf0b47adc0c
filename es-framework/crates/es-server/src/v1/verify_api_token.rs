//! `POST /api/v1/verify-api-token` checks the token. It ignores the body: clients send none, an empty
//! one or `{}`.

use axum::response::Response;
use serde_json::json;

use super::ping::management_response;
use crate::auth::RequireApiToken;

pub(super) async fn verify_api_token(_: RequireApiToken) -> Response {
    management_response(
        "/api/v1/verify-api-token",
        "io.eventsourcingdb.api.api-token-verified",
        json!({}),
    )
}
