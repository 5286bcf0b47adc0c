//! Problems (RFC 9457) in the OpenAPI document.
//!
//! The named schemas are open for types of problems that a client does not know. The examples of a response list
//! its types, one each: a schema for each response would become a type in every generated client.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::{Schemas, header, schemas};
use crate::{
    Problem,
    problem::kind::{self, ProblemKind},
};

/// The name of the schema that fits every problem.
pub(super) const SCHEMA: &str = "Problem";

/// The name of the schema of problems with values that are not valid.
const INVALID_VALUES: &str = "InvalidValuesProblem";

/// The name of the schema of a response whose problem can be either of them.
const UNPROCESSABLE: &str = "UnprocessableProblem";

const INVALID_VALUE: &str = "InvalidValue";

pub(super) const MEDIA_TYPE: &str = "application/problem+json";

/// Responses that contain a problem refer to the schema here.
impl JsonSchema for Problem {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        SCHEMA.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::try_from(super::problem_reference()).unwrap_or_default()
    }
}

/// Adds the schemas of all problems.
pub(super) fn add_schemas(schemas: &mut Schemas) {
    schemas.add(INVALID_VALUE, invalid_value());
    schemas.add(SCHEMA, problem());
    schemas.add(INVALID_VALUES, invalid_values_problem());
    // Not `oneOf`, because both fit a problem with invalid values. The first that fits is the more exact one.
    let forms = [INVALID_VALUES, SCHEMA].map(schemas::handwritten_schema_reference);
    let union = json!({
        "description": "Values that are not valid, or another reason for which the service cannot process the request. They differ in `type`.",
        "anyOf": forms,
    });
    schemas.add(UNPROCESSABLE, union);
}

fn invalid_value() -> Value {
    json!({
        "type": "object",
        "description": "A value that is not valid.",
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
    })
}

/// Returns the schema that fits every problem.
fn problem() -> Value {
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
            "status": { "type": "integer", "format": "int32", "minimum": 400, "maximum": 599 },
            "detail": { "type": "string", "description": "Describes this occurrence of the problem for people." },
            "errors": {
                "type": "array",
                "description": "Each value that is not valid or that is taken, if the problem has the type `invalid-values` or `not-unique`.",
                "items": schemas::handwritten_schema_reference(INVALID_VALUE),
            },
        },
        "required": ["type", "title", "status", "detail"],
    })
}

/// Returns the schema of the only kind of problem that has a member of its own.
fn invalid_values_problem() -> Value {
    let kind = kind::INVALID_VALUES;
    let mut schema = problem();
    schema["description"] =
        "Values of the request are not valid. No text may contain the character U+0000.".into();
    let members = &mut schema["properties"];
    members["type"] = json!({ "type": "string", "const": kind.uri() });
    members["status"] =
        json!({ "type": "integer", "format": "int32", "const": kind.status.as_u16() });
    members["errors"]["description"] = "Each value that is not valid.".into();
    members["errors"]["minItems"] = 1.into();
    schema["required"] = json!(["type", "title", "status", "detail", "errors"]);
    schema
}

/// Returns the response for problems that share a status.
pub(super) fn problem_response(kinds: &[ProblemKind]) -> Value {
    let titles: Vec<_> = kinds.iter().map(|kind| kind.title).collect();
    let examples: Map<_, _> = kinds
        .iter()
        .map(|kind| (kind.name.to_owned(), example(kind)))
        .collect();
    let has_values = kinds.contains(&kind::INVALID_VALUES);
    let schema =
        schemas::handwritten_schema_reference(if has_values { UNPROCESSABLE } else { SCHEMA });
    let mut answer = json!({
        "description": format!("{}.", titles.join("; ")),
        "content": {
            MEDIA_TYPE: {
                "schema": schema,
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
    let mut problem = json!({
        "type": kind.uri(),
        "title": kind.title,
        "status": kind.status.as_u16(),
        "detail": kind.title,
    });
    if *kind == kind::INVALID_VALUES {
        problem["errors"] = json!([{ "pointer": "/title", "message": "must not be empty" }]);
    }
    json!({ "summary": kind.title, "value": problem })
}
