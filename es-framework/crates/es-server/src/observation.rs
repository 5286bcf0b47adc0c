//! Responses that stream the stored events of a subject, and then new ones as they arrive.

use std::sync::Arc;

use axum::response::Response;

use super::{
    api_error::ApiError,
    event_lines::observation_response,
    state::ServerState,
    stored_lines::{observe_lazily, read_stored_lines},
    stream_format::StreamFormat,
};
use es_event::Subject;
use es_store::ObserveOptions;

/// Observes a subject, unless there are too many observers.
pub(super) async fn observe_subject(
    server: Arc<ServerState>,
    subject: Subject,
    options: ObserveOptions,
    format: StreamFormat,
) -> Result<Response, ApiError> {
    let permit = Arc::clone(&server.observers).try_acquire_owned();
    let permit =
        permit.map_err(|_| ApiError::too_many_observers(server.settings.observers_limit))?;
    let stored = read_stored_lines(&server, &subject, &options, format).await;
    let (stored, options) = match stored {
        Some((lines, options)) => (Some(lines), options),
        None => (None, options),
    };
    let events = observe_lazily(&server, subject, options);
    Ok(observation_response(server, stored, events, permit, format))
}
