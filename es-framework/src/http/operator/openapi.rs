//! The OpenAPI operations of the operator API.

use serde_json::{Value, json};

use super::{
    component::{COMPONENTS, OperatorSurface as _},
    dry_run, dry_runner,
};
use crate::{
    http::{
        openapi::{OpenApiResponse, Operation, OperatorAccess},
        problem::kind,
    },
    operator::{ComponentKind, OperatorCommand},
};

/// Returns the path, the method and the description of each operation.
pub(in crate::http) fn operations() -> Vec<(String, &'static str, Operation)> {
    let dry_run = (dry_run::PATH.to_owned(), "post", dry_run_operation());
    let mut operations = vec![dry_run];
    for component in COMPONENTS {
        let status = match component {
            ComponentKind::ReadModel => read_models(),
            ComponentKind::Reaction => all_reactions(),
        };
        operations.push((component.path().to_owned(), "get", status));
        for &command in component.commands() {
            let path = component.command_path(command);
            operations.push((path, "post", command_operation(component, command)));
        }
    }
    operations
}

fn read_models() -> Operation {
    let summary = "Shows the status of each read model.";
    let rebuild = with_position(json!({
        "beside": { "type": "boolean", "description": "True if the current rows answer queries during the rebuild." },
        "eventsLeft": { "type": ["integer", "null"], "minimum": 0 },
        "eventsPerSecond": { "type": ["integer", "null"], "minimum": 0 },
        "secondsLeft": { "type": ["integer", "null"], "minimum": 0 },
    }));
    let one = with_position(json!({
        "eventsBehind": { "type": "integer", "minimum": 0 },
        "secondsBehind": { "type": ["number", "null"], "minimum": 0 },
        "rebuilt": { "type": "boolean", "description": "True if it has applied every event from before the start." },
        "stopped": { "type": "boolean", "description": "True if an event stopped it." },
        "rebuild": nullable(rebuild),
    }));
    Operation::new("readModels", summary, "")
        .with_answer(
            OpenApiResponse::new(200, "The status of each, by name.", &[]).with_json(by_name(&one)),
        )
        .for_operators(OperatorAccess::IfAuthenticated)
}

fn all_reactions() -> Operation {
    let summary = "Shows the status of each reaction.";
    let one = with_position(json!({
        "eventsBehind": { "type": "integer", "minimum": 0 },
        "openDeadlines": { "type": "integer", "minimum": 0 },
        "nextDeadline": { "type": ["string", "null"], "format": "date-time" },
        "stopped": { "type": "boolean", "description": "True if an event stopped it." },
    }));
    Operation::new("reactions", summary, "")
        .with_answer(
            OpenApiResponse::new(200, "The status of each, by name.", &[]).with_json(by_name(&one)),
        )
        .for_operators(OperatorAccess::IfAuthenticated)
}

fn command_operation(component: ComponentKind, command: OperatorCommand) -> Operation {
    let noun = match component {
        ComponentKind::ReadModel => "ReadModel",
        ComponentKind::Reaction => "Reaction",
    };
    let (event, unless) = match command {
        OperatorCommand::Rebuild => (json!({ "type": "null" }), kind::READ_MODEL_REBUILDING),
        OperatorCommand::Retry | OperatorCommand::Skip => (event_schema(), component.not_stopped()),
    };
    let member = component.member();
    let response = json!({
        "type": "object",
        "properties": { member: { "type": "string" }, "event": event },
        "required": [member, "event"],
    });
    let name = json!({
        "name": "name",
        "in": "path",
        "required": true,
        "schema": { "type": "string" },
    });
    let id = format!("{}{noun}", command.verb());
    let operation = Operation::new(&id, component.description(command), "")
        .with_parameter(name)
        .with_answer(
            OpenApiResponse::new(200, "The command was carried out.", &[]).with_json(response),
        )
        .with_problems([kind::NOT_FOUND])
        .for_operators(OperatorAccess::Always)
        .with_problems([unless, component.unavailable()]);
    match component {
        ComponentKind::ReadModel => operation.with_problems([kind::STANDS_BY]),
        ComponentKind::Reaction => operation,
    }
}

/// Returns the operation of dry runs. It takes any command, so its body has no schema of its own.
fn dry_run_operation() -> Operation {
    let name = json!({
        "name": "name",
        "in": "path",
        "required": true,
        "description": "The name of the command's type.",
        "schema": { "type": "string" },
    });
    let at = json!({
        "name": dry_runner::AT,
        "in": "query",
        "description": "The last event that the states contain. Without it, they contain all events.",
        "schema": { "type": "string", "pattern": "^[0-9]{1,18}$" },
    });
    let event = json!({
        "type": "object",
        "properties": {
            "subject": { "type": "string" },
            "type": { "type": "string" },
            "data": { "type": "object" },
        },
        "required": ["subject", "type", "data"],
    });
    let response = json!({
        "type": "object",
        "properties": {
            "command": { "type": "string" },
            "at": { "type": ["string", "null"], "description": "The last event that the states contain, if there is an event." },
            "accepted": { "type": "boolean" },
            "subject": { "type": ["string", "null"], "description": "The subject of an accepted command." },
            "events": { "type": "array", "items": event, "description": "The events that the command would append." },
            "reply": { "description": "The reply that the client would get." },
            "problem": { "type": ["object", "null"], "description": "The problem that the client of a rejected command would get." },
        },
        "required": ["command", "at", "accepted", "subject", "events", "reply", "problem"],
    });
    let summary = "Shows the events or the rejection that a command would lead to.";
    let description = "Rebuilds the states, now or as of an event in the past, and calls the handler. Nothing is written.";
    let answer = OpenApiResponse::new(200, "The decision on the command.", &[]);
    Operation::new("dryRun", summary, description)
        .with_parameter(name)
        .with_parameter(at)
        .with_headers(&["If-Match"])
        .with_body(&json!({ "type": "object" }), true)
        .with_answer(answer.with_json(response))
        .with_problems([
            kind::NOT_FOUND,
            kind::INVALID_PARAMETER,
            kind::INVALID_HEADER,
            kind::UNSUPPORTED_MEDIA_TYPE,
            kind::BODY_TOO_LARGE,
            kind::BODY_TOO_SLOW,
            kind::EVENT_STORE_UNAVAILABLE,
            kind::TOO_BUSY,
            kind::TOOK_TOO_LONG,
            kind::INTERNAL_ERROR,
        ])
        .for_operators(OperatorAccess::Always)
}

/// Returns the schema of an object with these members and those of every component.
fn with_position(members: Value) -> Value {
    let mut properties = json!({
        "position": { "type": ["string", "null"], "description": "The last event that it has applied." },
        "error": { "type": ["string", "null"], "description": "The reason for which it does not continue." },
        "event": nullable(event_schema()),
    });
    if let (Some(properties), Value::Object(members)) = (properties.as_object_mut(), members) {
        properties.extend(members);
    }
    let names = properties.as_object().into_iter().flatten();
    let required: Vec<_> = names.map(|(name, _)| name.clone()).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Returns the schema of the event that stopped a component.
fn event_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "subject": { "type": "string" },
            "error": { "type": "string" },
        },
        "required": ["id", "subject", "error"],
    })
}

fn nullable(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn by_name(one: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": one })
}
