//! What operators look at and ask.

use serde_json::{Value, json};

use super::{Answer, Operation, own::Described};
use crate::http::{
    problem::kind::{self, ProblemKind},
    projections, reactions,
};

pub(super) fn operations() -> Vec<Described> {
    vec![
        (projections::PATH, "get", read_models()),
        (
            projections::REBUILD,
            "post",
            of_read_model(
                "rebuildReadModel",
                "Makes the rows of a read model again, beside those that answer queries meanwhile.",
                kind::READ_MODEL_REBUILDING,
            ),
        ),
        (
            projections::RETRY,
            "post",
            of_read_model(
                "retryReadModel",
                "Has a read model take the event that stopped it once more.",
                kind::READ_MODEL_NOT_STOPPED,
            ),
        ),
        (
            projections::SKIP,
            "post",
            of_read_model(
                "skipReadModel",
                "Has a read model leave out the event that stopped it, now and in every rebuild.",
                kind::READ_MODEL_NOT_STOPPED,
            ),
        ),
        (reactions::PATH, "get", all_reactions()),
        (
            reactions::RETRY,
            "post",
            of_reaction(
                "retryReaction",
                "Has a reaction take the event that stopped it once more.",
            ),
        ),
        (
            reactions::SKIP,
            "post",
            of_reaction(
                "skipReaction",
                "Has a reaction leave out what it cannot do about the event that stopped it, in every instance.",
            ),
        ),
    ]
}

fn read_models() -> Operation {
    let summary = "Tells how each read model is doing.";
    let rebuild = with_position(json!({
        "beside": { "type": "boolean", "description": "Whether old rows answer queries meanwhile." },
        "eventsLeft": { "type": ["integer", "null"], "minimum": 0 },
        "eventsPerSecond": { "type": ["integer", "null"], "minimum": 0 },
        "secondsLeft": { "type": ["integer", "null"], "minimum": 0 },
    }));
    let one = with_position(json!({
        "eventsBehind": { "type": "integer", "minimum": 0 },
        "secondsBehind": { "type": ["number", "null"], "minimum": 0 },
        "rebuilt": { "type": "boolean", "description": "Whether it has seen all that was stored before the start." },
        "stopped": { "type": "boolean", "description": "Whether an event stopped it." },
        "rebuild": nullable(rebuild),
    }));
    Operation::new("readModels", summary, "")
        .with_answer(Answer::new(200, "Each by its name.", &[]).with_json(by_name(&one)))
        .for_operators(false)
}

fn all_reactions() -> Operation {
    let summary = "Tells how each reaction is doing.";
    let one = with_position(json!({
        "eventsBehind": { "type": "integer", "minimum": 0 },
        "openDeadlines": { "type": "integer", "minimum": 0 },
        "nextDeadline": { "type": ["string", "null"], "format": "date-time" },
        "stopped": { "type": "boolean", "description": "Whether an event stopped it." },
    }));
    Operation::new("reactions", summary, "")
        .with_answer(Answer::new(200, "Each by its name.", &[]).with_json(by_name(&one)))
        .for_operators(false)
}

fn of_read_model(id: &str, summary: &str, unless: ProblemKind) -> Operation {
    let event = match unless == kind::READ_MODEL_REBUILDING {
        true => json!({ "type": "null" }),
        false => event(),
    };
    asking(id, summary, "readModel", &event).with_problems([
        unless,
        kind::STANDS_BY,
        kind::READ_MODELS_UNAVAILABLE,
    ])
}

fn of_reaction(id: &str, summary: &str) -> Operation {
    asking(id, summary, "reaction", &event())
        .with_problems([kind::REACTION_NOT_STOPPED, kind::REACTIONS_UNAVAILABLE])
}

fn asking(id: &str, summary: &str, member: &str, event: &Value) -> Operation {
    let answer = json!({
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
    Operation::new(id, summary, "")
        .with_parameter(name)
        .with_answer(Answer::new(200, "It does so.", &[]).with_json(answer))
        .with_problems([kind::NOT_FOUND])
        .for_operators(true)
}

/// An object with these members, and those of everything that follows events.
fn with_position(members: Value) -> Value {
    let mut properties = json!({
        "position": { "type": ["string", "null"], "description": "The last event that it has taken." },
        "error": { "type": ["string", "null"], "description": "What keeps it from going on." },
        "event": nullable(event()),
    });
    if let (Some(properties), Value::Object(members)) = (properties.as_object_mut(), members) {
        properties.extend(members);
    }
    let names = properties.as_object().into_iter().flatten();
    let required: Vec<_> = names.map(|(name, _)| name.clone()).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The event that is in the way.
fn event() -> Value {
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
