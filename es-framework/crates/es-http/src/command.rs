//! Commands over HTTP: `POST` to the command's path.

use std::sync::Arc;

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{RawPathParams, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, post},
};
use es_command::command::{CommandDescriptor, CommandOutcome, CommandRequest};
use es_event::Caller;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::{
    HttpContext, Problem, RequestLimits,
    auth::check_access,
    context,
    limits::ConcurrencyLimit,
    lines::{self, CommandLines, outcome_status},
    media_type::{NDJSON, check_content_encoding, has_media_type},
    occurred_at, path,
};

/// The header with the last event that a command appended, or that a query waits for.
pub(super) const EVENT_POSITION: HeaderName = HeaderName::from_static("event-position");

/// The number of headers of a response, to allocate them once.
const HEADERS: usize = 8;

/// Returns the route of a command.
pub(super) fn route(command: CommandDescriptor) -> (String, MethodRouter<Arc<HttpContext>>) {
    let names: Arc<[&'static str]> = path::parameter_names(command.path).collect();
    let handler = async move |State(http): State<Arc<HttpContext>>,
                              Extension(limit): Extension<ConcurrencyLimit>,
                              parameters: RawPathParams,
                              request: Request| {
        let known = request.extensions().get::<Caller>();
        let caller = http.auth.caller_or_default(known);
        check_access(&caller, command.roles, command.public)?;
        let has_lines = has_media_type(request.headers(), NDJSON);
        if !has_lines {
            check_content_type(request.headers())?;
        }
        let mut context = context::read_command_context(request.headers(), &http.metadata_headers)?;
        if let Some(name) = caller.name()
            && http.metadata_caller
        {
            context.metadata = context.metadata.with("caller", name);
        }
        context.caller = caller;
        let resources = &http.command_resources;
        occurred_at::read_header(&mut context, request.headers(), &command, resources)?;
        if has_lines {
            let values = parameters.iter().map(|(_, value)| value.to_owned());
            let lines = CommandLines {
                command,
                path_parameters: names.iter().copied().zip(values).collect(),
                context,
                is_strict: lines::is_strict(request.headers()),
                limit,
                client: request.extensions().get().cloned(),
                http,
            };
            return lines.respond(request);
        }
        if let Some(name) = context.caller.name() {
            let key = context.idempotency_key;
            context.idempotency_key = key.map(|key| key.scoped_to_caller(name));
        }
        let body = read_body(request.into_body(), http.limits).await?;
        let _permit = limit.try_acquire()?;
        let values = parameters.iter().map(|(_, value)| value);
        let path_parameters: Vec<_> = names.iter().copied().zip(values).collect();
        let request = CommandRequest {
            body: &body,
            path_parameters: &path_parameters,
            context: &context,
        };
        let outcome = command.execute(&http.command_resources, request).await?;
        Ok::<_, Problem>(respond(outcome))
    };
    (path::to_axum_path(command.path), post(handler))
}

/// Responds with the location of the created subject, or the reply.
fn respond(outcome: CommandOutcome) -> Response {
    let status = outcome_status(&outcome);
    let mut response = match outcome.reply {
        Some(reply) => {
            let json = [(header::CONTENT_TYPE, "application/json")];
            (status, json, String::from(Box::<str>::from(reply))).into_response()
        }
        None => status.into_response(),
    };
    let headers = response.headers_mut();
    headers.reserve(HEADERS);
    if outcome.created
        && let Ok(location) = HeaderValue::from_str(outcome.subject.as_str())
    {
        headers.insert(header::LOCATION, location);
    }
    if let Some(position) = outcome.position {
        headers.insert(EVENT_POSITION, HeaderValue::from(position.get()));
    }
    if let Some(latest) = outcome.latest
        && let Ok(tag) = HeaderValue::from_str(&format!("\"{latest}\""))
    {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// Checks that a body is declared as JSON. An empty body needs no content type, and the parser
/// reports it.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), Problem> {
    check_content_encoding(headers)?;
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        let length = headers.get(header::CONTENT_LENGTH);
        let is_empty = length.is_none_or(|length| length == "0")
            && !headers.contains_key(header::TRANSFER_ENCODING);
        return if is_empty {
            Ok(())
        } else {
            Err(Problem::unsupported_media_type())
        };
    };
    let mut parts = value.to_str().unwrap_or_default().split(';');
    let first = parts.next().unwrap_or_default();
    let essence = first.trim().to_ascii_lowercase();
    let is_json = essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"));
    if is_json {
        Ok(())
    } else {
        Err(Problem::unsupported_media_type())
    }
}

pub(super) async fn read_body(body: Body, limits: RequestLimits) -> Result<Bytes, Problem> {
    let collected = Limited::new(body, limits.body_size).collect();
    match tokio::time::timeout(limits.body_time, collected).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(Problem::too_large(limits.body_size))
        }
        Ok(Err(_)) => Err(Problem::broken_body()),
        Err(_) => Err(Problem::too_slow()),
    }
}
