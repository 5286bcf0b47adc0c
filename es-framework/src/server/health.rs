//! `GET /api/v1/health`: whether the store works, as JSON or, with `?format=openmetrics`, as
//! metrics for a monitor.

use std::sync::Arc;

use axum::{
    extract::{Query, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use serde_json::json;

use super::{Server, auth::Authorized, error::Failure};

#[derive(Deserialize)]
pub(super) struct Parameters {
    format: Option<String>,
}

pub(super) async fn health(
    _: Authorized,
    State(server): State<Arc<Server>>,
    Query(parameters): Query<Parameters>,
) -> Result<Response, Failure> {
    let as_metrics = match parameters.format.as_deref() {
        None | Some("json") => false,
        Some("openmetrics") => true,
        Some(_) => return Err(Failure::invalid("invalid format: use json or openmetrics")),
    };
    let checked = server.store.health().await;
    let status = match &checked {
        Ok(()) => StatusCode::OK,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    let uptime = server.started.elapsed().as_secs();
    if as_metrics {
        let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        let text = metrics(checked.is_ok(), uptime);
        return Ok((status, [(header::CONTENT_TYPE, content_type)], text).into_response());
    }
    let word = if checked.is_ok() { "pass" } else { "fail" };
    let mut store = json!({"status": word, "component": server.store.description()});
    if let (Err(error), Some(store)) = (&checked, store.as_object_mut()) {
        store.insert("output".into(), error.to_string().into());
    }
    let checks = json!({"eventStore": store, "uptime": {"status": "pass", "seconds": uptime}});
    let answer = json!({"status": word, "checks": checks});
    Ok((status, axum::Json(answer)).into_response())
}

fn metrics(is_up: bool, uptime: u64) -> String {
    format!(
        "# TYPE event_store_up gauge\n\
         # HELP event_store_up Whether the event store answers and writes.\n\
         event_store_up {}\n\
         # TYPE event_store_uptime_seconds gauge\n\
         # UNIT event_store_uptime_seconds seconds\n\
         event_store_uptime_seconds {uptime}\n\
         # EOF\n",
        u8::from(is_up)
    )
}
