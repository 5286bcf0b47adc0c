//! `QUERY /api/v2/data/read-event-types` streams all event types in order.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use futures_util::TryStreamExt as _;

use super::{read_event_type::EventTypeDescription, safe_query::QueryMethod};
use crate::{auth::RequireApiToken, state::ServerState, stream_format::StreamFormat};

/// Ignores the body: clients send none.
pub(super) async fn read_event_types(
    _: QueryMethod,
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
) -> Response {
    let known = server.store.read_event_types();
    let rows = known.map_ok(EventTypeDescription::from);
    StreamFormat::V2.rows_response("eventType", rows, &server.settings)
}
