//! `QUERY /api/v2/data/run-eventql-query` streams the rows of a query.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use serde::Deserialize;

use super::{
    error_envelope::ErrorEnvelope,
    safe_query::QueryMethod,
    strict_body::StrictBody,
    values::{OptionalText, require},
};
use crate::{
    api_error::ApiError, auth::RequireApiToken, error_code::ErrorCode, query_rows::query_response,
    state::ServerState, stream_format::StreamFormat,
};
use es_eventql::EventQlQuery;

/// The body of run-eventql-query.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct QueryBody {
    query: OptionalText,
}

pub(super) async fn run_eventql_query(
    _: QueryMethod,
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    StrictBody(body): StrictBody<QueryBody>,
) -> Result<Response, ErrorEnvelope> {
    let text = require("query", body.query, ErrorCode::QueryMissing)?;
    let query = EventQlQuery::parse(&text).map_err(|error| ApiError::malformed_query(&error))?;
    let permit = server.admit_query().await?;
    Ok(query_response(&server, &query, StreamFormat::V2, permit))
}
