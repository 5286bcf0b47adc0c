//! Request bodies: read within limits, and checked to be JSON that every client can read back.

use std::sync::Arc;

use axum::{
    extract::{FromRequest, Request},
    http::{StatusCode, header},
};
use bytes::Bytes;
use es_event::checked_json::{CheckedJson, RepeatedMember};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::time::timeout;

use super::{api_error::ApiError, state::ServerState};

/// Extractor that reads the body as JSON, whatever its content type: several clients send none.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<ServerState>> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<ServerState>) -> Result<Self, ApiError> {
        JsonText::from_request(request, server)
            .await?
            .parse_object()
            .map(Self)
    }
}

/// Extractor that reads the body like [`JsonBody`], for values that borrow from it.
pub(super) struct JsonText {
    json: Bytes,
    checked: CheckedJson,
}

impl FromRequest<Arc<ServerState>> for JsonText {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<ServerState>) -> Result<Self, ApiError> {
        read_json_body(request, server).await
    }
}

impl JsonText {
    /// Returns the body.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.json
    }

    /// Returns the length of the longest list that is a member of the request. An element of two bytes takes more
    /// than a hundred once it is parsed, so the length is checked before.
    pub(super) fn longest_list(&self) -> usize {
        self.checked.longest_list
    }

    /// Refuses a request in which an object has two members of one name. Clients disagree which one counts.
    pub(super) fn check_members(&self) -> Result<(), ApiError> {
        match &self.checked.repeated_member {
            None => Ok(()),
            Some(RepeatedMember { name, .. }) => Err(ApiError::invalid_request(format!(
                "invalid request: an object has two members {name:?}"
            ))),
        }
    }

    /// Parses a body that must be a JSON object.
    pub(super) fn parse_object<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ApiError> {
        // serde would take the elements of an array as the members in their order.
        if self.json.trim_ascii_start().first() != Some(&b'{') {
            return Err(ApiError::invalid_request(
                "invalid request: the request body is not a JSON object",
            ));
        }
        let parsed = parse_with_path(&self.json).map_err(|error| {
            let (path, reason) = (error.path().to_string(), error.inner());
            ApiError::invalid_request(match path.as_str() {
                "." => format!("invalid request: {reason}"),
                path => format!("invalid request: {path}: {reason}"),
            })
        })?;
        self.check_members()?;
        Ok(parsed)
    }
}

/// Parses JSON. An error has the path of the member that caused it.
pub(super) fn parse_with_path<'a, T: Deserialize<'a>>(
    json: &'a [u8],
) -> Result<T, serde_path_to_error::Error<serde_json::Error>> {
    // The path costs an allocation for each member, so only JSON with an error is parsed with it.
    serde_json::from_slice(json).or_else(|_| {
        serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_slice(json))
    })
}

/// Reads the whole body within the limits of the server, and checks that it is one JSON value that every
/// client can read back.
pub(super) async fn read_json_body(
    request: Request,
    server: &ServerState,
) -> Result<JsonText, ApiError> {
    let settings = &server.settings;
    let reading = read_body(request, settings.body_limit);
    let json = timeout(settings.request_time, reading)
        .await
        .unwrap_or_else(|_| {
            Err(ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                "the request body did not arrive in time",
            ))
        })?;
    let parsed = serde_json::from_slice::<CheckedJson>(&json);
    let checked = parsed.map_err(|error| {
        ApiError::invalid_request(format!("the request body is not valid JSON: {error}"))
    })?;
    Ok(JsonText { json, checked })
}

async fn read_body(request: Request, limit: usize) -> Result<Bytes, ApiError> {
    let encodings = request.headers().get_all(header::CONTENT_ENCODING);
    if encodings.iter().any(|encoding| encoding != "identity") {
        let text = "the request body has a content encoding: send it as it is";
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let body = Limited::new(request.into_body(), limit);
    match body.collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            let text = format!("the request body is larger than {limit} bytes");
            Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, text))
        }
        Err(_) => Err(ApiError::invalid_request(
            "the connection ended within the request body",
        )),
    }
}
