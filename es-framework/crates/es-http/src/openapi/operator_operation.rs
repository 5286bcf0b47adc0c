//! The OpenAPI operations of the operator API.

use es_subscribe::operator::{ComponentKind, OperatorCommand};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{
    operation::{OpenApiResponse, Operation},
    schemas::Schemas,
    security::OperatorAccess,
};
use crate::{
    health::{ReactionStatuses, ReadModelStatuses},
    operator::{
        component::{COMPONENTS, OperatorInterface as _},
        dry_run::{self, DryRunResponse},
        dry_runner,
        personal_data::PersonalDataAction,
        routes::{ReactionReply, ReadModelReply},
        unique_values,
    },
    problem::kind,
};

/// Returns the path, the method and the description of each operation.
pub(super) fn operator_operations(schemas: &mut Schemas) -> Vec<(String, &'static str, Operation)> {
    let dry_run = (dry_run::PATH.to_owned(), "post", dry_run_operation(schemas));
    let claim = (unique_values::PATH.to_owned(), "post", claim_operation());
    let mut operations = vec![dry_run, claim];
    operations.extend(PersonalDataAction::ALL.map(personal_data_operation));
    for component in COMPONENTS {
        let status = match component {
            ComponentKind::ReadModel => read_models(schemas),
            ComponentKind::Reaction => all_reactions(schemas),
        };
        operations.push((component.path().to_owned(), "get", status));
        for &command in component.commands() {
            let path = component.command_path(command);
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

fn read_models(schemas: &mut Schemas) -> Operation {
    let summary = "Shows the status of each read model.";
    let answer = OpenApiResponse::new(200, "The status of each, by name.", &[]);
    Operation::new("readModels", summary, "")
        .with_answer(answer.with_json(schema_of::<ReadModelStatuses>(schemas)))
        .for_operators(OperatorAccess::IfAuthenticated)
}

fn all_reactions(schemas: &mut Schemas) -> Operation {
    let summary = "Shows the status of each reaction.";
    let answer = OpenApiResponse::new(200, "The status of each, by name.", &[]);
    Operation::new("reactions", summary, "")
        .with_answer(answer.with_json(schema_of::<ReactionStatuses>(schemas)))
        .for_operators(OperatorAccess::IfAuthenticated)
}

fn command_operation(
    component: ComponentKind,
    command: OperatorCommand,
    schemas: &mut Schemas,
) -> Operation {
    let unless = match (component, command) {
        (ComponentKind::ReadModel, OperatorCommand::Rebuild) => kind::READ_MODEL_REBUILDING,
        _ => component.not_stopped(),
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
    let id = format!("{}{noun}", command.verb());
    let operation = Operation::new(&id, component.description(command), "")
        .with_parameter(name)
        .with_answer(
            OpenApiResponse::new(200, "The command was carried out.", &[]).with_json(response),
        )
        .with_problems([kind::NOT_FOUND])
        .for_operators(OperatorAccess::Always)
        .with_problems([unless, component.unavailable()]);
    let operation = match command {
        OperatorCommand::Rebuild => operation,
        OperatorCommand::Retry | OperatorCommand::Skip => {
            let with_parameters = selection_parameters()
                .into_iter()
                .fold(operation, Operation::with_parameter);
            with_parameters.with_problems([kind::INVALID_PARAMETER])
        }
    };
    operation.with_problems([kind::STANDS_BY])
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
        ("key", r"^[\s\S]+$", "A held key, as the status shows it: the event at which it is held."),
    ]
    .map(|(name, pattern, description)| {
        json!({
            "name": name,
            "in": "query",
            "description": description,
            "schema": { "type": "string", "pattern": pattern },
        })
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
    let at = json!({
        "name": dry_runner::AT,
        "in": "query",
        "description": "The last event that the states contain. Without it, they contain all events.",
        "schema": { "type": "string", "pattern": "^[0-9]{1,18}$" },
    });
    let role = json!({
        "name": dry_runner::ROLE,
        "in": "query",
        "description": "A role of the caller who sends the command. Without a role and an owner id, no rule about callers is checked.",
        "schema": { "type": "array", "items": { "type": "string" } },
    });
    let owner = json!({
        "name": dry_runner::OWNER,
        "in": "query",
        "description": "The owner id of the caller who sends the command.",
        "schema": { "type": "string" },
    });
    let any_command = json!({
        "type": "object",
        "description": "The body of any command.",
        "additionalProperties": true,
    });
    let summary = "Shows the events or the rejection that a command would lead to.";
    let description = "Rebuilds the states, now or as of an event in the past, and calls the handler. Nothing is written.";
    let answer = OpenApiResponse::new(200, "The decision on the command.", &[]);
    Operation::new("dryRun", summary, description)
        .with_parameter(name)
        .with_parameter(at)
        .with_parameter(role)
        .with_parameter(owner)
        .with_headers(&["If-Match"])
        .with_body(&schemas.add("AnyCommand", any_command), true)
        .with_answer(answer.with_json(schema_of::<DryRunResponse<'_>>(schemas)))
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

fn claim_operation() -> Operation {
    let parameter = |name: &str, description: &str| {
        json!({
            "name": name,
            "in": "query",
            "description": description,
            "schema": { "type": "string" },
        })
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
    .with_answer(answer.with_json(json!({ "type": "object" })))
    .with_problems([
        kind::INVALID_PARAMETER,
        kind::CONTENDED,
        kind::EVENT_STORE_UNAVAILABLE,
        kind::INTERNAL_ERROR,
    ])
    .for_operators(OperatorAccess::Always)
}

fn personal_data_operation(action: PersonalDataAction) -> (String, &'static str, Operation) {
    let subject = json!({
        "name": "subject",
        "in": "query",
        "required": true,
        "description": "A subject that ends with the id of the person.",
        "schema": { "type": "string" },
    });
    let method = if action.is_post() { "post" } else { "get" };
    let report = |status, text: &'static str| {
        OpenApiResponse::new(status, text, &[]).with_json(json!({ "type": "object" }))
    };
    let verb = match action {
        PersonalDataAction::Search => "search",
        action => action.verb(),
    };
    let id = format!("{verb}PersonalData");
    let operation = Operation::new(&id, action.description(), "")
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
        PersonalDataAction::Erase => operation.with_answer(report(
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
            operation
                .with_answer(report(409, "Values were found, and `found` names where."))
                .with_body(&texts, true)
                .with_problems(body_problems)
        }
        _ => operation,
    };
    (action.path(), method, operation)
}
