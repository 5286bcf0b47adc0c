//! The operation of a command in the OpenAPI document.

use es_command::command::{CommandDescriptor, Parameter, ParameterOrigin, SubjectCondition};
use serde_json::{Value, json};

use super::{
    OpenApiResponse, Operation, Schemas, doc_comment::DocComment, header, request_schema,
    schemas::move_doc_examples,
};
use crate::{
    path,
    problem::kind::{self, ProblemKind},
};

/// The request headers of every command.
const HEADERS: [&str; 2] = [header::IDEMPOTENCY_KEY, header::IF_MATCH];

/// The response headers of every command.
const ANSWERED: [&str; 2] = [header::EVENT_POSITION, header::ETAG];

/// The problems that every command can return.
const PROBLEMS: [ProblemKind; 14] = [
    kind::MALFORMED_BODY,
    kind::INVALID_HEADER,
    kind::BODY_TOO_SLOW,
    kind::CONTENDED,
    kind::CHANGED_MEANWHILE,
    kind::BODY_TOO_LARGE,
    kind::UNSUPPORTED_MEDIA_TYPE,
    kind::INVALID_VALUES,
    kind::IDEMPOTENCY_KEY_REUSED,
    kind::INTERNAL_ERROR,
    kind::EVENT_STORE_UNAVAILABLE,
    kind::OUTCOME_UNKNOWN,
    kind::EVENT_STORE_FULL,
    kind::TOO_BUSY,
];

/// Describes the operation of a command.
pub(super) fn operation(command: &CommandDescriptor, schemas: &mut Schemas) -> Operation {
    let schema = (command.schema)(schemas.request_generator_mut()).to_value();
    let described = schemas.request_description(&schema);
    let text = DocComment::parse(&described);
    let named = Operation::new(command.name, command.summary, text.text_after_summary());
    let with_body = with_request(named, command, schema, schemas);
    with_answers(with_backdating(with_body, command), command, schemas)
        .with_caller_rules(command.roles, command.owner)
        .with_public(command.public)
        .with_problems(by_condition(command))
        .with_problems((command.rejections)().iter().map(ProblemKind::from))
        .with_problems(PROBLEMS)
}

/// Adds the header of a command that takes the time at which something happened.
fn with_backdating(operation: Operation, command: &CommandDescriptor) -> Operation {
    if command.backdate_roles.is_empty() {
        return operation;
    }
    operation
        .with_headers(&[header::EVENT_OCCURRED_AT])
        .with_problems([kind::FORBIDDEN, kind::INVALID_OCCURRED_AT])
}

/// Adds the path parameters. Adds the body, without the members that are in the path.
fn with_request(
    operation: Operation,
    command: &CommandDescriptor,
    schema: Value,
    schemas: &mut Schemas,
) -> Operation {
    let names: Vec<_> = path::parameter_names(command.path).collect();
    if names.is_empty() {
        return operation.with_body(&schema, true).with_headers(&HEADERS);
    }
    let mut body = schemas.resolve_request_schema(&schema);
    if let Some(body) = body.as_object_mut() {
        move_doc_examples(body);
    }
    let mut with_path = operation;
    for name in names {
        let mut member = take_member(&mut body, name);
        member.iter_mut().for_each(request_schema::restrict);
        with_path = with_path.with_parameter(json!({
            "name": name,
            "in": "path",
            "required": true,
            "schema": member.unwrap_or_else(|| json!({ "type": "string" })),
        }));
    }
    let is_required = body["required"]
        .as_array()
        .is_some_and(|required| !required.is_empty());
    request_schema::restrict(&mut body);
    let body = schemas.add(&format!("{}Body", command.name), body);
    with_path
        .with_body(&body, is_required)
        .with_headers(&HEADERS)
}

fn take_member(body: &mut Value, name: &str) -> Option<Value> {
    if let Some(required) = body.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|one| one != name);
    }
    let examples = body.get_mut("examples").and_then(Value::as_array_mut);
    for example in examples.into_iter().flatten() {
        example.as_object_mut().map(|example| example.remove(name));
    }
    body.get_mut("properties")?.as_object_mut()?.remove(name)
}

fn with_answers(
    operation: Operation,
    command: &CommandDescriptor,
    schemas: &mut Schemas,
) -> Operation {
    let reply = (command.reply)(schemas.response_generator_mut());
    let always = reply.as_ref().is_some_and(|reply| reply.always);
    let schema = reply.map(|reply| reply.schema.to_value());
    let mut answered = operation;
    if command.condition == SubjectCondition::Pristine {
        let [position, tag] = ANSWERED;
        let headers = [header::LOCATION, position, tag];
        let created = OpenApiResponse::new(201, "The command created its subject.", &headers);
        answered = answered.with_answer(match schema.clone() {
            None => created,
            Some(schema) => created.with_json(schema),
        });
        if !(command.may_be_empty)() {
            return answered;
        }
    }
    let done = |status| OpenApiResponse::new(status, "The command succeeded.", &ANSWERED);
    if !always {
        answered = answered.with_answer(done(204));
    }
    match schema {
        None => answered,
        Some(schema) => answered.with_answer(done(200).with_json(schema)),
    }
}

/// Returns the problems that follow from the condition of the command.
fn by_condition(command: &CommandDescriptor) -> impl Iterator<Item = ProblemKind> {
    let is_required = |parameter: &Parameter| {
        matches!(parameter.origin, ParameterOrigin::State(_)) && !parameter.optional
    };
    let needs_a_state = (command.parameters)().iter().any(is_required);
    let own = match command.condition {
        SubjectCondition::Pristine => Some(kind::ALREADY_EXISTS),
        SubjectCondition::Exists => Some(kind::NOT_FOUND),
        SubjectCondition::None => None,
    };
    own.into_iter()
        .chain((needs_a_state || !command.required_subjects.is_empty()).then_some(kind::NOT_FOUND))
}
