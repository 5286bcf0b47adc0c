//! Bodies of requests: read within limits, and JSON that every client could read back.

use std::{fmt, sync::Arc};

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, SeqAccess, Visitor},
};
use tokio::time::timeout;

use super::{Server, error::Failure};

/// A request's body, read as JSON whatever its content type says: several clients send none.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<Server>> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, Failure> {
        let settings = &server.settings;
        let reading = read(request, settings.body_limit);
        let body = timeout(settings.request_time, reading)
            .await
            .unwrap_or_else(|_| Err(Failure::too_slow()))?;
        parse(&body).map(Self)
    }
}

async fn read(request: Request, limit: usize) -> Result<Bytes, Failure> {
    let body = Limited::new(request.into_body(), limit);
    match body.collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Failure::too_large(limit)),
        Err(_) => Err(Failure::invalid("the request body broke off")),
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice::<Readable>(body).map_err(|error| {
        Failure::invalid(format!("the request body is not valid JSON: {error}"))
    })?;
    let json = &mut serde_json::Deserializer::from_slice(body);
    serde_path_to_error::deserialize(json).map_err(|error| {
        let (path, reason) = (error.path().to_string(), error.inner());
        Failure::invalid(match path.as_str() {
            "." => format!("invalid request: {reason}"),
            path => format!("invalid request: {path}: {reason}"),
        })
    })
}

/// Any JSON value, thrown away once it is read to the bottom.
///
/// An event's data is otherwise kept as text that nobody looked into: a lone surrogate, a number
/// beyond all floating point or a nesting without end would be stored, and break every reader.
/// Data lies as deep in a request as in a line of a stream, so that what passes here within the
/// parser's limit passes it there.
struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Readable {
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

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_readable(json: &str) -> bool {
        serde_json::from_str::<Readable>(json).is_ok()
    }

    #[test]
    fn what_some_reader_would_choke_on_is_not_readable() {
        for readable in [
            "null",
            r#"{"a":[1,-1,1.5,true,"é\n\ud83d\ude00"],"b":{}}"#,
            &format!("{}{}", "[".repeat(100), "]".repeat(100)),
        ] {
            assert!(is_readable(readable), "{readable}");
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
            assert!(!is_readable(broken), "{}", broken.len());
        }
    }
}
