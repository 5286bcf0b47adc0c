//! The OpenAPI operations of the operator API.

use es_command::unique::ClaimReport;
use es_personal::{PersonReport, Verification};
use es_subscribe::{
    operator::{ComponentKind, OperatorCommand},
    status::{ReactionStatuses, ReadModelStatuses},
};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{
    operation::{OpenApiResponse, Operation, query_parameter},
    schemas::Schemas,
    security::OperatorAccess,
};
use crate::{
    operator::{
        component::{
            COMPONENTS, command_path, describe_command, not_stopped, status_path, unavailable,
        },
        dry_run::{self, DryRunResponse},
        personal_data::{PersonErasure, PersonalDataAction},
        routes::{ReactionReply, ReadModelReply},
        unique_values,
    },
    problem::kind,
};

/// Returns the path, the method and the description of each operation.
pub(super) fn operator_operations(schemas: &mut Schemas) -> Vec<(String, &'static str, Operation)> {
    let dry_run = (dry_run::PATH.to_owned(), "post", dry_run_operation(schemas));
    let claim = (
        unique_values::PATH.to_owned(),
        "post",
        claim_operation(schemas),
    );
    let mut operations = vec![dry_run, claim];
    operations
        .extend(PersonalDataAction::ALL.map(|action| personal_data_operation(action, schemas)));
    for component in COMPONENTS {
        let status = status_operation(component, schemas);
        operations.push((status_path(component).to_owned(), "get", status));
        for &command in component.commands() {
            let path = command_path(component, "{name}", command);
            let operation = command_operation(component, command, schemas);
            operations.push((path, "post", operation));
        }
    }
    operations
}

/// Returns the schema of a type in responses.
fn schema_of<T: JsonSchema>(schemas: &mut Schemas) -> Value {
    schemas
        .response_generator_mut()
        .subschema_for::<T>()
        .to_value()
}

fn status_operation(component: ComponentKind, schemas: &mut Schemas) -> Operation {
    let (id, schema) = match component {
        ComponentKind::ReadModel => ("readModels", schema_of::<ReadModelStatuses>(schemas)),
        ComponentKind::Reaction => ("reactions", schema_of::<ReactionStatuses>(schemas)),
    };
    let answer = OpenApiResponse::new(200, "The status of each, by name.", &[]).with_json(schema);
    Operation::new(id, &format!("Shows the status of each {component}."), "")
        .with_answer(answer)
        .for_operators(OperatorAccess::IfAuthenticated)
}

fn command_operation(
    component: ComponentKind,
    command: OperatorCommand,
    schemas: &mut Schemas,
) -> Operation {
    let unless = match (component, command) {
        (ComponentKind::ReadModel, OperatorCommand::Rebuild) => kind::READ_MODEL_REBUILDING,
        _ => not_stopped(component),
    };
    let (noun, response) = match component {
        ComponentKind::ReadModel => ("ReadModel", schema_of::<ReadModelReply>(schemas)),
        ComponentKind::Reaction => ("Reaction", schema_of::<ReactionReply>(schemas)),
    };
    let name = json!({
        "name": "name",
        "in": "path",
        "required": true,
        "schema": { "type": "string" },
    });
    let answer = OpenApiResponse::new(200, "The command was carried out.", &[]).with_json(response);
    let id = format!("{}{noun}", command.verb());
    let takes_selection = command != OperatorCommand::Rebuild;
    let selection = takes_selection.then(selection_parameters);
    let operation = Operation::new(&id, describe_command(component, command), "")
        .with_parameter(name)
        .with_answer(answer)
        .with_problems([kind::NOT_FOUND])
        .for_operators(OperatorAccess::Always)
        .with_problems([unless, unavailable(component)])
        .with_problems(takes_selection.then_some(kind::INVALID_PARAMETER))
        .with_problems([kind::STANDS_BY]);
    let parameters = selection.into_iter().flatten();
    parameters.fold(operation, Operation::with_parameter)
}

/// Returns the parameters that select events.
fn selection_parameters() -> [Value; 6] {
    let id = "^[0-9]{1,19}$";
    [
        ("event", id, "One event. Without a parameter, the command is about the event that stopped the component and those at which keys are held."),
        ("from", id, "The first event of a range."),
        ("to", id, "The last event of a range."),
        ("type", r"^[0-9A-Za-z_-]{2,}\.([0-9A-Za-z_-]+\.)+[0-9A-Za-z_-]+$", "The type of the events."),
        ("fingerprint", "^[0-9a-f]{16}$", "The fingerprint of a failure, as the status shows it: the events that fail alike."),
        ("key", r"^[\s\S]+$", "A held key, as the status shows it: the event at which it is held. For a replay, a subject: its events."),
    ]
    .map(|(name, pattern, description)| {
        query_parameter(name, description, json!({ "type": "string", "pattern": pattern }))
    })
}

/// Returns the operation of dry runs. It takes any command, so its body has no schema of its own.
fn dry_run_operation(schemas: &mut Schemas) -> Operation {
    let name = json!({
        "name": "name",
        "in": "path",
        "required": true,
        "description": "The name of the command's type.",
        "schema": { "type": "string" },
    });
    let parameters = [
        (
            dry_run::AT,
            "The last event that the states contain. Without it, they contain all events.",
            json!({ "type": "string", "pattern": "^[0-9]{1,18}$" }),
        ),
        (
            dry_run::ROLE,
            "A role of the caller who sends the command. Without a role and an owner id, no rule about callers is checked.",
            json!({ "type": "array", "items": { "type": "string" } }),
        ),
        (
            dry_run::OWNER,
            "The owner id of the caller who sends the command.",
            json!({ "type": "string" }),
        ),
    ];
    let any_command = json!({
        "type": "object",
        "description": "The body of any command.",
        "additionalProperties": true,
    });
    let summary = "Shows the events or the rejection that a command would lead to.";
    let description = "Rebuilds the states, now or as of an event in the past, and calls the handler. Nothing is written.";
    let answer = OpenApiResponse::new(200, "The decision on the command.", &[]);
    let operation = Operation::new("dryRun", summary, description).with_parameter(name);
    parameters
        .into_iter()
        .map(|(name, description, schema)| query_parameter(name, description, schema))
        .fold(operation, Operation::with_parameter)
        .with_headers(&["If-Match"])
        .with_body(&schemas.add("AnyCommand", any_command), true)
        .with_answer(answer.with_json(schema_of::<DryRunResponse>(schemas)))
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

fn claim_operation(schemas: &mut Schemas) -> Operation {
    let parameter = |name: &str, description: &str| {
        query_parameter(name, description, json!({ "type": "string" }))
    };
    let after = parameter("after", "The id of the last event of the step before.");
    let until = "The member `until` of the first answer: the newest event at the begin of the run.";
    let answer = OpenApiResponse::new(200, "The report of the step.", &[]);
    Operation::new(
        "claimUniqueValues",
        unique_values::SUMMARY,
        unique_values::DESCRIPTION,
    )
    .with_parameter(after)
    .with_parameter(parameter("until", until))
    .with_answer(answer.with_json(schema_of::<ClaimReport>(schemas)))
    .with_problems([
        kind::INVALID_PARAMETER,
        kind::CONTENDED,
        kind::EVENT_STORE_UNAVAILABLE,
        kind::INTERNAL_ERROR,
    ])
    .for_operators(OperatorAccess::Always)
}

fn personal_data_operation(
    action: PersonalDataAction,
    schemas: &mut Schemas,
) -> (String, &'static str, Operation) {
    let subject = json!({
        "name": "subject",
        "in": "query",
        "required": true,
        "description": "A subject that ends with the id of the person.",
        "schema": { "type": "string" },
    });
    let method = if action.is_post() { "post" } else { "get" };
    let schema = match action {
        PersonalDataAction::Find | PersonalDataAction::Export => schema_of::<PersonReport>(schemas),
        PersonalDataAction::Erase => schema_of::<PersonErasure>(schemas),
        PersonalDataAction::Verify | PersonalDataAction::Search => {
            schema_of::<Verification>(schemas)
        }
    };
    let report = |status, text: &'static str| {
        OpenApiResponse::new(status, text, &[]).with_json(schema.clone())
    };
    let verb = match action {
        PersonalDataAction::Search => "search",
        action => action.verb(),
    };
    let id = format!("{verb}PersonalData");
    let described = Operation::new(&id, action.description(), "")
        .with_parameter(subject)
        .with_answer(report(200, "The personal data, or the report."))
        .with_problems([
            kind::INVALID_PARAMETER,
            kind::NOT_FOUND,
            kind::EVENT_STORE_UNAVAILABLE,
            kind::KEY_STORE_UNAVAILABLE,
            kind::INTERNAL_ERROR,
        ])
        .for_operators(OperatorAccess::Always);
    let operation = match action {
        PersonalDataAction::Erase => described.with_answer(report(
            202,
            "The key is destroyed, and the application goes on to drop the plain values that `unreached` names.",
        )),
        PersonalDataAction::Search => {
            let texts = json!({ "type": "array", "items": { "type": "string" } });
            let body_problems = [
                kind::MALFORMED_BODY,
                kind::UNSUPPORTED_MEDIA_TYPE,
                kind::BODY_TOO_LARGE,
                kind::BODY_TOO_SLOW,
            ];
            described
                .with_answer(report(409, "Values were found, and `found` names where."))
                .with_body(&texts, true)
                .with_problems(body_problems)
        }
        _ => described,
    };
    (action.path(), method, operation)
}
