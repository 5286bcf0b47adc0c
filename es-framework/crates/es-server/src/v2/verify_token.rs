//! `POST /api/v2/system/verify-token` checks the token.

use axum::response::Response;
use serde_json::json;

use crate::{auth::RequireApiToken, single_envelope::single_event};

pub(super) async fn verify_token(_: RequireApiToken) -> Response {
    single_event(
        "/api/v2/system/verify-token",
        "io.eventsourcingdb.api.token-verified",
        json!({}),
    )
}
