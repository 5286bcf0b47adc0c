//! `GET /api/v1/health` reports if the store works: as JSON or, with `?format=openmetrics`, as metrics
//! for a monitor.

use std::sync::Arc;

use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use serde_json::json;

use crate::{api_error::ApiError, auth::RequireApiToken, state::ServerState};
use es_store::event_time_lead;

#[derive(Deserialize)]
pub(super) struct HealthParameters {
    format: Option<String>,
}

pub(super) async fn health(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    parameters: Result<Query<HealthParameters>, QueryRejection>,
) -> Result<Response, ApiError> {
    let invalid = |error: QueryRejection| ApiError::invalid_request(error.body_text());
    let Query(parameters) = parameters.map_err(invalid)?;
    let as_metrics = match parameters.format.as_deref() {
        None | Some("json") => false,
        Some("openmetrics") => true,
        Some(_) => {
            return Err(ApiError::invalid_request(
                "invalid format: use json or openmetrics",
            ));
        }
    };
    let result = server.store.health().await;
    let lead = match &result {
        Ok(()) => event_time_lead(&*server.store).await,
        Err(_) => Ok(None),
    };
    let status = match &result {
        Ok(()) => StatusCode::OK,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    let uptime = server.started.elapsed().as_secs();
    if as_metrics {
        let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        let text = openmetrics(result.is_ok(), uptime);
        return Ok((status, [(header::CONTENT_TYPE, content_type)], text).into_response());
    }
    let word = if result.is_ok() { "pass" } else { "fail" };
    let mut store = json!({"status": word, "component": server.store.description()});
    if let (Err(error), Some(store)) = (&result, store.as_object_mut()) {
        store.insert("output".into(), error.to_string().into());
    }
    let mut checks = json!({"eventStore": store, "uptime": {"status": "pass", "seconds": uptime}});
    if let (Ok(Some(ahead)), Some(checks)) = (lead, checks.as_object_mut()) {
        let output = format!(
            "the newest event is {ahead} s ahead of the clock: new events have its time until then"
        );
        let check = json!({"status": "warn", "secondsAhead": ahead, "output": output});
        checks.insert("eventTimes".into(), check);
    }
    let report = json!({"status": word, "checks": checks});
    Ok((status, axum::Json(report)).into_response())
}

fn openmetrics(is_up: bool, uptime: u64) -> String {
    format!(
        "# TYPE event_store_up gauge\n\
         # HELP event_store_up 1 if the event store answers and writes, else 0.\n\
         event_store_up {}\n\
         # TYPE event_store_uptime_seconds gauge\n\
         # UNIT event_store_uptime_seconds seconds\n\
         event_store_uptime_seconds {uptime}\n\
         # EOF\n",
        u8::from(is_up)
    )
}
