//! The OpenAPI operations of the operator API.

use serde_json::{Value, json};

use super::component::{COMPONENTS, CommandTexts as _, OperatorSurface as _};
use crate::{
    http::{
        openapi::{OpenApiResponse, Operation, OperatorAccess},
        problem::kind,
    },
    operator::{ComponentKind, OperatorCommand},
};

/// Returns the path, the method and the description of each operation.
pub(in crate::http) fn operations() -> Vec<(String, &'static str, Operation)> {
    let mut operations = Vec::new();
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
