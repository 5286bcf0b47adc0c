//! `POST /api/v1/run-eventql-query` streams the rows of a query.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use serde::Deserialize;

use crate::{
    api_error::ApiError, auth::RequireApiToken, json_body::JsonBody, query_rows::query_response,
    state::ServerState,
};
use es_eventql::EventQlQuery;

/// The body of run-eventql-query.
#[derive(Deserialize)]
pub(super) struct RunEventQlQueryRequest {
    query: String,
}

pub(super) async fn run_eventql_query(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    JsonBody(request): JsonBody<RunEventQlQueryRequest>,
) -> Result<Response, ApiError> {
    let query =
        EventQlQuery::parse(&request.query).map_err(|error| ApiError::malformed_query(&error))?;
    let permit = server.admit_query().await?;
    Ok(query_response(&server, &query, server.v1_format(), permit))
}
