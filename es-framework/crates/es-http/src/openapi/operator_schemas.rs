//! The schemas of the operator API in the OpenAPI document.

use es_subscribe::operator::{ComponentKind, OperatorCommand};
use serde_json::{Value, json};

use super::{problem_reference, schemas::Schemas};
use crate::operator::component::OperatorInterface as _;

/// Returns the noun for a component in the names of operations and schemas.
pub(super) fn component_type_name(component: ComponentKind) -> &'static str {
    match component {
        ComponentKind::ReadModel => "ReadModel",
        ComponentKind::Reaction => "Reaction",
    }
}

/// Adds the schema of the status of all read models.
pub(super) fn add_read_model_statuses(schemas: &mut Schemas) -> Value {
    let rebuild = json!({
        "beside": { "type": "boolean", "description": "True if the current rows answer queries during the rebuild." },
        "eventsLeft": { "type": ["integer", "null"], "format": "int64", "minimum": 0 },
        "eventsPerSecond": { "type": ["integer", "null"], "format": "int64", "minimum": 0 },
        "secondsLeft": { "type": ["integer", "null"], "format": "int64", "minimum": 0 },
    });
    let rebuild = with_position("The progress of a rebuild.", rebuild, schemas);
    let rebuild = schemas.add("ReadModelRebuild", rebuild);
    let status = json!({
        "eventsBehind": { "type": "integer", "format": "int64", "minimum": 0 },
        "secondsBehind": { "type": ["number", "null"], "format": "double", "minimum": 0 },
        "rebuilt": { "type": "boolean", "description": "True if it has applied every event from before the start." },
        "rebuild": nullable(rebuild),
    });
    let status = with_position("The status of a read model.", status, schemas);
    by_name(ComponentKind::ReadModel, status, schemas)
}

/// Adds the schema of the status of all reactions.
pub(super) fn add_reaction_statuses(schemas: &mut Schemas) -> Value {
    let status = json!({
        "eventsBehind": { "type": "integer", "format": "int64", "minimum": 0 },
        "openDeadlines": { "type": "integer", "format": "int64", "minimum": 0 },
        "nextDeadline": { "type": ["string", "null"], "format": "date-time" },
    });
    let status = with_position("The status of a reaction.", status, schemas);
    by_name(ComponentKind::Reaction, status, schemas)
}

/// Adds the schema of the response to an operator's command.
pub(super) fn add_command_reply(
    component: ComponentKind,
    command: OperatorCommand,
    schemas: &mut Schemas,
) -> Value {
    let (event, name) = match command {
        OperatorCommand::Rebuild => (json!({ "type": "null" }), "RebuildReply"),
        OperatorCommand::Retry | OperatorCommand::Skip => (poison_event(schemas), "EventReply"),
    };
    let member = component.member();
    let count = |description| json!({ "type": "integer", "format": "int64", "minimum": 0, "description": description });
    let reply = json!({
        "type": "object",
        "description": "The component that carried out the command, and the event that had stopped it.",
        "properties": {
            member: { "type": "string" },
            "event": event,
            "retriedKeys": count("The number of held keys that the command was about."),
            "releasedKeys": count("The number of those that are held no longer."),
        },
        "required": [member, "event", "retriedKeys", "releasedKeys"],
    });
    schemas.add(&format!("{}{name}", component_type_name(component)), reply)
}

/// Adds the schema of a body that is any command.
pub(super) fn add_any_command(schemas: &mut Schemas) -> Value {
    let command = json!({
        "type": "object",
        "description": "The body of any command.",
        "additionalProperties": true,
    });
    schemas.add("AnyCommand", command)
}

/// Adds the schema of the response to a dry run.
pub(super) fn add_dry_run_reply(schemas: &mut Schemas) -> Value {
    let data = json!({
        "type": "object",
        "description": "The payload and the metadata of an event.",
        "additionalProperties": true,
    });
    let event = json!({
        "type": "object",
        "description": "An event that the command would append.",
        "properties": {
            "subject": { "type": "string" },
            "type": { "type": "string" },
            "data": schemas.add("EventData", data),
        },
        "required": ["subject", "type", "data"],
    });
    let event = schemas.add("DryRunEvent", event);
    let problem = json!({
        "description": "The problem that the client of a rejected command would get.",
        "anyOf": [problem_reference(), { "type": "null" }],
    });
    let response = json!({
        "type": "object",
        "description": "The decision on a command.",
        "properties": {
            "command": { "type": "string" },
            "at": { "type": ["string", "null"], "description": "The last event that the states contain, if there is an event." },
            "accepted": { "type": "boolean" },
            "subject": { "type": ["string", "null"], "description": "The subject of an accepted command." },
            "events": { "type": "array", "items": event, "description": "The events that the command would append." },
            "reply": { "description": "The reply that the client would get." },
            "problem": problem,
        },
        "required": ["command", "at", "accepted", "subject", "events", "reply", "problem"],
    });
    schemas.add("DryRunReply", response)
}

/// Returns the schema of an object with these members and those of every component.
fn with_position(description: &str, members: Value, schemas: &mut Schemas) -> Value {
    let mut properties = json!({
        "position": { "type": ["string", "null"], "description": "The last event that it has applied." },
        "state": { "type": "string", "enum": ["working", "retrying", "stopped"], "description": "Whether it follows the event store, tries again after a failure, or needs help." },
        "stopped": { "type": "boolean", "description": "True if its state is stopped." },
        "since": { "type": ["string", "null"], "format": "date-time", "description": "The time since which it does not work." },
        "exits": { "type": "array", "items": { "type": "string" }, "description": "The commands of operators that help in this state." },
        "error": { "type": ["string", "null"], "description": "The reason for which it does not continue." },
        "event": nullable(poison_event(schemas)),
        "held": held_keys(schemas),
    });
    if let (Some(properties), Value::Object(members)) = (properties.as_object_mut(), members) {
        properties.extend(members);
    }
    let names = properties.as_object().into_iter().flatten();
    let required: Vec<_> = names.map(|(name, _)| name.clone()).collect();
    json!({ "type": "object", "description": description, "properties": properties, "required": required })
}

/// Adds the schema of the keys that a component holds.
fn held_keys(schemas: &mut Schemas) -> Value {
    let failure = json!({
        "type": "object",
        "description": "Keys that wait at events which fail alike.",
        "properties": {
            "fingerprint": { "type": "string", "description": "Events that fail alike have the same fingerprint." },
            "error": { "type": "string" },
            "type": { "type": ["string", "null"] },
            "event": { "type": "string", "description": "The first event that failed so." },
            "subject": { "type": ["string", "null"], "description": "The subject of this event." },
            "keys": { "type": "integer", "format": "int64", "minimum": 0, "description": "The number of keys." },
            "someKeys": { "type": "array", "items": { "type": "string" }, "description": "The first of them: keys of rows, or subjects." },
            "events": { "type": "integer", "format": "int64", "minimum": 0, "description": "The number of events that these keys wait with." },
            "first": { "type": "string", "format": "date-time", "description": "The time of the first of these events." },
            "last": { "type": "string", "format": "date-time", "description": "The time of the last of these events." },
            "waiting": { "type": "integer", "format": "int64", "minimum": 0, "description": "The number of keys that are retried without an operator, as after a failed call." },
            "nextAttempt": { "type": ["string", "null"], "format": "date-time", "description": "The time of the first of these attempts." },
        },
        "required": ["fingerprint", "error", "type", "event", "subject", "keys", "someKeys", "events", "first", "last", "waiting", "nextAttempt"],
    });
    let failure = schemas.add("HeldKeyFailure", failure);
    let held = json!({
        "type": "object",
        "description": "The keys that wait at an event which cannot be handled, while all others go on.",
        "properties": {
            "keys": { "type": "integer", "format": "int64", "minimum": 0, "description": "The number of keys." },
            "failures": { "type": "array", "items": failure },
        },
        "required": ["keys", "failures"],
    });
    schemas.add("HeldKeys", held)
}

/// Adds the schema of the event that stopped a component.
fn poison_event(schemas: &mut Schemas) -> Value {
    let event = json!({
        "type": "object",
        "description": "An event that a read model or a reaction cannot handle.",
        "properties": {
            "id": { "type": "string" },
            "subject": { "type": ["string", "null"], "description": "Null if the event cannot be read." },
            "type": { "type": ["string", "null"], "description": "Null if the event cannot be read." },
            "error": { "type": "string" },
            "fingerprint": { "type": "string", "description": "Events that fail alike have the same fingerprint." },
        },
        "required": ["id", "subject", "type", "error", "fingerprint"],
    });
    schemas.add("PoisonEvent", event)
}

fn nullable(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn by_name(component: ComponentKind, status: Value, schemas: &mut Schemas) -> Value {
    let noun = component_type_name(component);
    let status = schemas.add(&format!("{noun}Status"), status);
    let all = json!({
        "type": "object",
        "description": "The status of each, by name.",
        "additionalProperties": status,
    });
    schemas.add(&format!("{noun}Statuses"), all)
}
