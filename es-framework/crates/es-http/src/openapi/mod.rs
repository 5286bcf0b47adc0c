//! The OpenAPI 3.1 document of an application, made from the descriptors alone: no server, no store.
//!
//! | what | where |
//! |---|---|
//! | a command, a query, rows that are events | `command_operation.rs`, `query_operation.rs` |
//! | what the framework answers by itself | `own.rs`, `operator_operation.rs` |
//! | headers of requests and answers | `header.rs` |
//! | problems, and the responses that operations share | `problem_schemas.rs`, `shared_responses.rs` |
//! | schemas, and their form for generators | `schemas.rs`, `generator_form.rs` |
//! | who may do what | `security.rs` |

#![allow(
    clippy::indexing_slicing,
    reason = "the index of a JSON value is a name: what it has not is null, and only objects made here are written to"
)]

mod command_operation;
mod doc_comment;
mod document_route;
mod generator_form;
mod header;
mod operation;
mod operator_operation;
mod own;
mod problem_schemas;
mod query_operation;
mod request_schema;
mod schemas;
mod security;
mod shared_responses;
#[cfg(test)]
mod tests;

use es_catalog::Catalog;
use es_personal::PersonalEvents;
use serde_json::{Map, Value, json};

use crate::{lines::LineAnswer, problem::kind};

use operation::{OpenApiResponse, Operation};
use schemas::Schemas;

pub(super) use document_route::{OpenApiDocument, PATH};

/// The version of the specification that the document follows.
const OPENAPI: &str = "3.1.1";

/// Describes requests with many commands.
const LINES: &str = "Each command also takes `application/x-ndjson`: many commands, a line of JSON each. The response is `200` with the same media type, and has a line with a `CommandLineAnswer` for each command, in their order. `Idempotency-Key: k` gives line 7 the key `k-7`, and `Prefer: handling=strict` stops at the first refused line.";

/// Returns a reference to the schema that fits every problem.
pub(super) fn problem_reference() -> Value {
    schemas::handwritten_schema_reference(problem_schemas::SCHEMA)
}

/// The document of the application of this name.
#[doc(hidden)]
#[must_use]
pub fn document(name: &str, catalog: &Catalog) -> Value {
    let mut schemas = Schemas::default();
    let mut paths = PathItems::default();
    let personal = PersonalEvents::select(catalog.events());
    let commands = catalog.commands().iter();
    for command in commands.filter(|command| !command.is_internal()) {
        let events = (command.events)();
        let is_personal = events.iter().any(|one| personal.contains(one));
        let mut declared = catalog.events().iter();
        let has_unique_values =
            declared.any(|one| events.contains(&one.event_type) && !one.unique.fields.is_empty());
        let of_persons: &[_] = if is_personal {
            &[kind::ERASED_PERSON, kind::KEY_STORE_UNAVAILABLE]
        } else {
            &[]
        };
        let operation = command_operation::operation(command, &mut schemas)
            .with_problems(of_persons.iter().copied())
            .with_problems(has_unique_values.then_some(kind::NOT_UNIQUE));
        paths.add(command.path, "post", operation);
    }
    for route in catalog.queries() {
        let operation = query_operation::operation(route, &mut schemas);
        paths.add(&route.path, "get", operation);
    }
    for (path, operation) in own::framework_operations(&mut schemas) {
        paths.add(path, "get", operation);
    }
    for (path, method, operation) in operator_operation::operator_operations(&mut schemas) {
        paths.add(&path, method, operation);
    }
    problem_schemas::add_schemas(&mut schemas);
    // No second media type of each command: generators of clients refuse a body with several.
    schemas
        .response_generator_mut()
        .subschema_for::<LineAnswer>();
    let responses = shared_responses::share_responses(&mut paths.all);
    let document = json!({
        "openapi": OPENAPI,
        "info": { "title": name, "version": catalog.version(), "description": LINES },
        "paths": paths.all,
        "components": {
            "schemas": {},
            "responses": responses,
            "parameters": header::request_headers(),
            "headers": header::response_headers(),
            "securitySchemes": security::security_schemes(),
        },
    });
    schemas.add_to_document(document)
}

/// The operations of each path.
#[derive(Debug, Default)]
struct PathItems {
    all: Map<String, Value>,
    /// The names of operations so far: each is there once.
    ids: std::collections::BTreeSet<String>,
}

impl PathItems {
    fn add(&mut self, path: &str, method: &str, mut operation: Operation) {
        let mut number = 2_u32;
        let id = operation.id.clone();
        while !self.ids.insert(operation.id.clone()) {
            operation.id = format!("{id}{number}");
            number = number.saturating_add(1);
        }
        let first = path.split('/').nth(1).unwrap_or_default();
        let is_own = path == PATH || path.starts_with("/actuator/");
        let tag = if is_own { "service" } else { first };
        let operations = self.all.entry(path).or_insert_with(|| json!({}));
        if let Some(operations) = operations.as_object_mut() {
            operations.insert(method.to_owned(), operation.into_json(tag));
        }
    }
}
