//! Request bodies: read within limits, and checked to be JSON that every client can read back.

use std::{fmt, sync::Arc};

use axum::{
    extract::{FromRequest, Request},
    http::header,
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, SeqAccess, Visitor},
};
use tokio::time::timeout;

use super::{error_response::ErrorResponse, state::ServerState};

/// Extractor that reads the body as JSON, whatever its content type: several clients send none.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<ServerState>> for JsonBody<T> {
    type Rejection = ErrorResponse;

    async fn from_request(
        request: Request,
        server: &Arc<ServerState>,
    ) -> Result<Self, ErrorResponse> {
        JsonText::from_request(request, server)
            .await?
            .parse_object()
            .map(Self)
    }
}

/// Extractor that reads the body like [`JsonBody`], for values that borrow from it.
pub(super) struct JsonText {
    json: Bytes,
    /// The length of the longest list that is a member of the request.
    longest_list: usize,
}

impl FromRequest<Arc<ServerState>> for JsonText {
    type Rejection = ErrorResponse;

    async fn from_request(
        request: Request,
        server: &Arc<ServerState>,
    ) -> Result<Self, ErrorResponse> {
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
    pub(super) const fn longest_list(&self) -> usize {
        self.longest_list
    }

    /// Parses a body that must be a JSON object.
    pub(super) fn parse_object<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ErrorResponse> {
        // serde would take the elements of an array as the members in their order.
        if self.json.trim_ascii_start().first() != Some(&b'{') {
            return Err(ErrorResponse::invalid_request(
                "invalid request: the request body is not a JSON object",
            ));
        }
        parse_with_path(&self.json).map_err(|error| {
            let (path, reason) = (error.path().to_string(), error.inner());
            ErrorResponse::invalid_request(match path.as_str() {
                "." => format!("invalid request: {reason}"),
                path => format!("invalid request: {path}: {reason}"),
            })
        })
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
) -> Result<JsonText, ErrorResponse> {
    let settings = &server.settings;
    let reading = read_body(request, settings.body_limit);
    let json = timeout(settings.request_time, reading)
        .await
        .unwrap_or_else(|_| Err(ErrorResponse::body_too_slow()))?;
    let checked = serde_json::from_slice::<DiscardedJson>(&json);
    let checked = checked.map_err(|error| {
        ErrorResponse::invalid_request(format!("the request body is not valid JSON: {error}"))
    })?;
    let longest_list = checked.longest_list;
    Ok(JsonText { json, longest_list })
}

async fn read_body(request: Request, limit: usize) -> Result<Bytes, ErrorResponse> {
    let encodings = request.headers().get_all(header::CONTENT_ENCODING);
    if encodings.iter().any(|encoding| encoding != "identity") {
        return Err(ErrorResponse::encoded_body());
    }
    let body = Limited::new(request.into_body(), limit);
    match body.collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(ErrorResponse::body_too_large(limit)),
        Err(_) => Err(ErrorResponse::invalid_request(
            "the connection ended within the request body",
        )),
    }
}

/// Any JSON value, parsed completely and discarded except for the lengths of lists.
///
/// The server stores an event's data as unparsed text. Without this check it would store lone
/// surrogates, numbers out of range and unlimited nesting, which break every reader. Data has the same
/// depth in a request and in a line of a stream, so text that passes the parser's depth limit here
/// passes it there, too.
#[derive(Default)]
struct DiscardedJson {
    /// The number of elements of a list.
    elements: usize,
    /// The length of the longest list that is a member of an object.
    longest_list: usize,
}

impl<'de> Deserialize<'de> for DiscardedJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self::default())
    }
}

impl<'de> Visitor<'de> for DiscardedJson {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {
            self.elements = self.elements.saturating_add(1);
        }
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Self, A::Error> {
        while let Some((_, member)) = members.next_entry::<Self, Self>()? {
            self.longest_list = self.longest_list.max(member.elements);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_valid(json: &str) -> bool {
        serde_json::from_str::<DiscardedJson>(json).is_ok()
    }

    #[test]
    fn what_some_reader_would_choke_on_is_not_readable() {
        for readable in [
            "null",
            r#"{"a":[1,-1,1.5,true,"é\n\ud83d\ude00"],"b":{}}"#,
            &format!("{}{}", "[".repeat(100), "]".repeat(100)),
        ] {
            assert!(is_valid(readable), "{readable}");
        }
        for broken in [
            "",
            "{",
            "{} {}",
            r#"{"a":"\ud800"}"#,
            r#"{"a":1e999}"#,
            &format!("{}{}", "[".repeat(200), "]".repeat(200)),
            &"[".repeat(1_000_000),
        ] {
            assert!(!is_valid(broken), "{}", broken.len());
        }
    }

    #[test]
    fn only_lists_that_are_members_of_the_request_have_a_length() {
        for (json, length) in [
            (r#"{"a":[],"b":[1,[2,3,4,5]],"c":{"d":[1,2,3]}}"#, 2),
            (r#"{"a":[1,2,3],"a":7}"#, 3),
            ("[1,2,3]", 0),
        ] {
            let checked: DiscardedJson = serde_json::from_str(json).unwrap();
            assert_eq!(checked.longest_list, length, "{json}");
        }
    }
}
