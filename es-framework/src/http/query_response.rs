//! The response to a query: its output with an entity tag, or a problem.

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::Problem;
use crate::query::QueryError;

/// The reason why a query over HTTP has no output.
pub(super) enum QueryFailure {
    /// The query itself failed.
    Query(QueryError),
    /// A step before the query failed.
    Problem(Problem),
}

impl From<QueryError> for QueryFailure {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}

impl From<Problem> for QueryFailure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl QueryFailure {
    /// Returns the problem for the client that requested this path.
    pub(super) fn into_problem(self, path: &str) -> Problem {
        match self {
            Self::Query(QueryError::NotFound) => Problem::no_such_row(path),
            Self::Query(error) => error.into(),
            Self::Problem(problem) => problem,
        }
    }
}

/// Returns `200` with the output, or `304` if the caller has this output already.
pub(super) fn ok_or_not_modified(json: &RawValue, headers: &HeaderMap) -> Response {
    let tag = entity_tag(json.get());
    let is_known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .map(|known| known.trim().trim_start_matches("W/"))
        .any(|known| known == "*" || known == tag);
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let content_type = [(header::CONTENT_TYPE, "application/json")];
        (content_type, json.get().to_owned()).into_response()
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    let vary = HeaderValue::from_static("accept");
    response.headers_mut().insert(header::VARY, vary);
    // The output can change at any time, so that caches have to revalidate it.
    let no_cache = HeaderValue::from_static("no-cache");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_cache);
    response
}

fn entity_tag(body: &str) -> String {
    format!("\"{}\"", digest_output(body))
}

/// Returns a digest of an output as 32 hexadecimal digits.
pub(super) fn digest_output(body: &str) -> String {
    let hash = Sha256::digest(body.as_bytes());
    let first = hash.iter().take(16);
    first.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_follows_the_body() {
        assert_eq!(entity_tag("{}"), entity_tag("{}"));
        assert_ne!(entity_tag("{}"), entity_tag("[]"));
    }
}
