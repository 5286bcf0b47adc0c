//! Request bodies that version 2 reads strictly: no unknown members and no `null`.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_path_to_error::{Path, Segment};

use crate::{
    api_error::ApiError,
    json_body::{parse_with_path, read_json_body},
    state::ServerState,
    strict_object::StrictObject,
};

/// Extractor that reads the body as a JSON object.
pub(super) struct StrictBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<ServerState>> for StrictBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, server: &Arc<ServerState>) -> Result<Self, ApiError> {
        let body = read_json_body(request, server).await?;
        let parsed = parse_object(body.bytes(), "")?;
        body.check_members()?;
        Ok(Self(parsed))
    }
}

/// Parses an object that stands at this JSON pointer of the request.
pub(super) fn parse_object<T: DeserializeOwned>(json: &[u8], at: &str) -> Result<T, ApiError> {
    let parsed: Result<StrictObject<T>, _> = parse_with_path(json);
    parsed.map(|object| object.0).map_err(|error| {
        let pointer = format!("{at}{}", pointer_to(error.path()));
        rejection(&pointer, error.inner())
    })
}

/// Creates the response to a member that is malformed.
fn rejection(pointer: &str, error: &serde_json::Error) -> ApiError {
    let message = error.to_string();
    // The position says less than the pointer.
    let text = message.split(" at line ").next().unwrap_or_default();
    let member = |start: &str| Some(text.strip_prefix(start)?.split('`').next()?.to_owned());
    ApiError::invalid_request(if text.starts_with("invalid type: null") {
        null_at(pointer)
    } else if let Some(unknown) = member("unknown field `") {
        // The path of the error may end with the member or with the object around it.
        let end = format!("/{}", escape(&unknown));
        let around = pointer.strip_suffix(end.as_str()).unwrap_or(pointer);
        format!("{around}{end}: unknown member")
    } else if pointer.is_empty() {
        format!("invalid request: {text}")
    } else {
        format!("{pointer}: {text}")
    })
}

/// Describes a `null` that stands at this JSON pointer.
pub(super) fn null_at(pointer: &str) -> String {
    format!("{pointer}: null is not allowed")
}

/// Converts a path to a JSON pointer of RFC 6901.
fn pointer_to(path: &Path) -> String {
    let segment = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", escape(key)),
        Segment::Enum { variant } => format!("/{}", escape(variant)),
        Segment::Unknown => String::new(),
    };
    path.iter().map(segment).collect()
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// A member that may be missing, but not `null`.
pub(super) struct OptionalMember<T>(pub(super) Option<T>);

impl<T> Default for OptionalMember<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OptionalMember<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(|member| Self(Some(member)))
    }
}

/// An optional member that is an object.
pub(super) type OptionalObject<T> = OptionalMember<StrictObject<T>>;

impl<T> OptionalObject<T> {
    /// Returns the object without its wrapper.
    pub(super) fn into_object(self) -> Option<T> {
        self.0.map(|object| object.0)
    }
}

#[cfg(test)]
mod tests {
    use axum::{body::to_bytes, response::IntoResponse as _};

    use super::*;

    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
    struct Outer {
        #[serde(rename = "text")]
        _text: OptionalMember<String>,
        #[serde(rename = "inner")]
        _inner: OptionalMember<Vec<StrictObject<Inner>>>,
    }

    #[derive(Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Inner {
        #[serde(rename = "flag")]
        _flag: OptionalMember<bool>,
    }

    async fn rejected(json: &str) -> String {
        let Err(response) = parse_object::<Outer>(json.as_bytes(), "/at") else {
            panic!("{json}")
        };
        let body = to_bytes(response.into_response().into_body(), 1_000).await;
        String::from_utf8(body.unwrap().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_malformed_member_is_named_by_its_pointer() {
        for json in ["{}", r#"{"text":"a","inner":[{},{"flag":true}]}"#] {
            assert!(parse_object::<Outer>(json.as_bytes(), "").is_ok(), "{json}");
        }
        for (json, expected) in [
            (r#"{"text":null}"#, "/at/text: null is not allowed\n"),
            (r#"{"inner":null}"#, "/at/inner: null is not allowed\n"),
            (
                r#"{"inner":[{},null]}"#,
                "/at/inner/1: null is not allowed\n",
            ),
            (
                r#"{"inner":[{"flag":null}]}"#,
                "/at/inner/0/flag: null is not allowed\n",
            ),
            (r#"{"other":1}"#, "/at/other: unknown member\n"),
            (
                r#"{"inner":[{"a/b~c":1}]}"#,
                "/at/inner/0/a~1b~0c: unknown member\n",
            ),
            (
                r#"{"text":1}"#,
                "/at/text: invalid type: integer `1`, expected a string\n",
            ),
            (
                r#"{"inner":[[]]}"#,
                "/at/inner/0: invalid type: sequence, expected an object\n",
            ),
            ("[]", "/at: invalid type: sequence, expected an object\n"),
        ] {
            assert_eq!(rejected(json).await, expected, "{json}");
        }
    }
}
