//! Problems (RFC 9457) in the OpenAPI document.

use serde_json::{Map, Value, json};

use super::header;
use crate::http::problem::kind::{self, ProblemKind};

/// The name of the schema that all problems share.
pub(super) const SCHEMA: &str = "Problem";

pub(super) const MEDIA_TYPE: &str = "application/problem+json";

/// Returns the schema that all problems share.
pub(super) fn problem_schema() -> Value {
    json!({
        "type": "object",
        "description": "The reason for which the service rejected a request (RFC 9457).",
        "properties": {
            "type": {
                "type": "string",
                "format": "uri",
                "description": "Identifies the kind of problem for programs. It never changes.",
            },
            "title": { "type": "string", "description": "Describes the kind of problem for people." },
            "status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "detail": { "type": "string", "description": "Describes this occurrence of the problem for people." },
            "errors": {
                "type": "array",
                "description": "Each value that is not valid.",
                "items": {
                    "type": "object",
                    "properties": {
                        "pointer": {
                            "type": "string",
                            "description": "The place of the value, as a JSON pointer (RFC 6901).",
                        },
                        "message": {
                            "type": "string",
                            "description": "Describes the violation and the correction.",
                        },
                    },
                    "required": ["pointer", "message"],
                },
            },
        },
        "required": ["type", "title", "status", "detail"],
    })
}

/// Returns the response for problems that share a status.
pub(super) fn problem_response(kinds: &[ProblemKind]) -> Value {
    let titles: Vec<_> = kinds.iter().map(|kind| kind.title).collect();
    let types: Vec<_> = kinds.iter().map(ProblemKind::uri).collect();
    let status = kinds.first().map(|kind| kind.status.as_u16());
    let examples: Map<_, _> = kinds
        .iter()
        .map(|kind| (kind.name.to_owned(), example(kind)))
        .collect();
    let mut answer = json!({
        "description": format!("{}.", titles.join("; ")),
        "content": {
            MEDIA_TYPE: {
                "schema": {
                    "allOf": [{ "$ref": format!("#/components/schemas/{SCHEMA}") }],
                    "properties": {
                        "type": { "enum": types },
                        "title": { "enum": titles },
                        "status": { "const": status },
                    },
                },
                "examples": examples,
            },
        },
    });
    let mut headers = Map::new();
    let mut tell = |name: &str| headers.insert(name.to_owned(), header::header_reference(name));
    if kinds.iter().any(|kind| kind.retry) {
        tell(header::RETRY_AFTER);
    }
    let asks_who_it_is = [kind::UNAUTHORIZED, kind::OPERATORS_ONLY];
    if kinds.iter().any(|kind| asks_who_it_is.contains(kind)) {
        tell(header::WWW_AUTHENTICATE);
    }
    if !headers.is_empty() {
        answer["headers"] = headers.into();
    }
    answer
}

fn example(kind: &ProblemKind) -> Value {
    json!({
        "summary": kind.title,
        "value": {
            "type": kind.uri(),
            "title": kind.title,
            "status": kind.status.as_u16(),
            "detail": kind.title,
        },
    })
}
