//! A dry run as the source code of a test. The test names types of events by their texts and has values as JSON,
//! so it compiles in every module of the application, also with events whose Rust type is gone.

use std::fmt::{self, Write as _};

use es_command::command::{CommandDescriptor, DryRun, ParameterOrigin, describe_past_limit};
use es_event::{Caller, DecodeError, RecordedEvent};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::DryRunProblem;

/// The name of the problem of a caller without a role of the command.
const MISSING_ROLE: &str = "forbidden";

/// The payload in the data of an event.
#[derive(Deserialize)]
struct PayloadOnly<'a> {
    #[serde(borrow)]
    payload: &'a RawValue,
}

/// Returns a dry run of the command with this JSON text as the source code of a test.
///
/// # Errors
/// The sentence says why there is no test.
pub(crate) fn to_rust(run: &DryRun<DryRunProblem>, json: &str) -> Result<String, String> {
    if matches!(&run.decision, Err(problem) if problem.name == MISSING_ROLE) {
        return Err("A test has no route, which is where the role is checked.".to_owned());
    }
    let past = run.past.as_deref().ok_or_else(describe_past_limit)?;
    let past = past.iter().map(past_event).collect::<Result<String, _>>();
    let past = past.map_err(|error| format!("An event cannot be a part of a test: {error}."))?;
    let mut code = String::new();
    // Writing to a string does not fail.
    write_test(run, json, &past, &mut code).unwrap_or_default();
    Ok(code)
}

/// Returns the call that gives the test an event of the past.
fn past_event(event: &RecordedEvent) -> Result<String, DecodeError> {
    let payload = json_literal(event.raw_payload()?.get());
    let fields = [event.subject.as_str(), event.event_type.as_str()];
    let [subject, event_type] = fields.map(|text| format!("{text:?}"));
    Ok(format!(
        "        .event_json(\n            {subject},\n            {event_type},\n            {payload},\n        )\n"
    ))
}

fn write_test(
    run: &DryRun<DryRunProblem>,
    json: &str,
    past: &str,
    code: &mut String,
) -> fmt::Result {
    let name = function_name(run.command.name);
    let outcome = match &run.decision {
        Ok(_) => "accepted".to_owned(),
        Err(problem) => format!("rejected_as_{}", problem.name.replace('-', "_")),
    };
    let at = match run.at {
        Some(at) => format!("as of event {at}"),
        None => "without any event".to_owned(),
    };
    writeln!(code, "/// A dry run of the console {at}.")?;
    let settings = services(&run.command);
    if !settings.is_empty() {
        writeln!(
            code,
            "/// The handler takes {settings}: add `.with(…)` for values other than the defaults."
        )?;
    }
    writeln!(code, "#[test]\nfn {name}_is_{outcome}() {{")?;
    writeln!(code, "    es_framework::testing::given()")?;
    writeln!(code, "        .at(\"{}\")", run.time)?;
    write_caller(&run.caller, code)?;
    code.push_str(past);
    let command = run.command.name;
    let json = json_literal(json);
    writeln!(
        code,
        "        .when_json(\n            {command:?},\n            {json},\n        )"
    )?;
    write_outcome(run, code)?;
    writeln!(code, "}}")
}

fn write_caller(caller: &Caller, code: &mut String) -> fmt::Result {
    let Caller::Authenticated(caller) = caller else {
        return Ok(());
    };
    let roles: Vec<_> = caller.roles().map(|role| format!("{role:?}")).collect();
    let roles = match roles.as_slice() {
        [] => "[\"\"; 0]".to_owned(),
        roles => format!("[{}]", roles.join(", ")),
    };
    let owner = caller.owner_id();
    let owner = owner.map(|id| format!("\n                .with_owner_id({id:?})"));
    let (name, owner) = (caller.name(), owner.unwrap_or_default());
    writeln!(
        code,
        "        .caller(\n            es_framework::event::Caller::authenticated({name:?}, {roles}){owner},\n        )"
    )
}

fn write_outcome(run: &DryRun<DryRunProblem>, code: &mut String) -> fmt::Result {
    let decision = match &run.decision {
        Ok(decision) => decision,
        Err(DryRunProblem { name, detail, .. }) => {
            return writeln!(
                code,
                "        .then_problem(\n            {name:?},\n            {detail:?},\n        );"
            );
        }
    };
    write!(code, "        .then_json([")?;
    for event in &decision.events {
        let (subject, event_type) = (event.subject.as_str(), event.event_type.as_str());
        let payload = serde_json::from_str::<PayloadOnly<'_>>(event.data.get());
        let payload = payload.map_or("null", |part| part.payload.get());
        let payload = json_literal(payload);
        write!(
            code,
            "\n            (\n                {subject:?},\n                {event_type:?},\n                {payload},\n            ),"
        )?;
    }
    if decision.events.is_empty() {
        write!(code, "])")?
    } else {
        write!(code, "\n        ])")?
    }
    if let Some(reply) = &decision.reply {
        write!(
            code,
            "\n        .then_reply_json({})",
            json_literal(reply.get())
        )?;
    }
    writeln!(code, ";")
}

/// Returns the services and settings that the handler takes, except for the clock.
fn services(command: &CommandDescriptor) -> String {
    let parameters = (command.parameters)().into_iter();
    let names = parameters.filter_map(|parameter| match parameter.origin {
        ParameterOrigin::Service(service) if service.name != "Clock" => {
            Some(format!("`{}`", service.name))
        }
        _ => None,
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the name of a type in the style of functions, without `Command` at its end.
fn function_name(command: &str) -> String {
    let name = command.strip_suffix("Command").unwrap_or(command);
    let name = if name.is_empty() { command } else { name };
    let mut text = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(character.to_lowercase());
    }
    text
}

/// Returns a JSON text without spaces as a literal of Rust. A text that is not JSON stays as it is.
fn json_literal(json: &str) -> String {
    if serde_json::from_str::<&RawValue>(json).is_err() {
        return format!("{json:?}");
    }
    let json = compact(json);
    let mut hashes = "#".to_owned();
    while json.contains(&format!("\"{hashes}")) {
        hashes.push('#');
    }
    format!("r{hashes}\"{json}\"{hashes}")
}

/// Removes the spaces outside of strings, and escapes the characters that nobody sees in source code, some of
/// which the compiler refuses.
fn compact(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let (mut is_string, mut is_escaped) = (false, false);
    for character in json.chars() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_string = !is_string,
            ' ' | '\n' | '\r' | '\t' if !is_string => continue,
            _ => {}
        }
        // `escape_debug` knows the characters that are not printable.
        let is_hidden = !character.is_ascii() && character.escape_debug().count() > 1;
        if !is_hidden {
            text.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(text, "\\u{unit:04x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_contains_any_json() {
        assert_eq!(
            json_literal("{ \"a b\" : [1, 2] }\n"),
            r##"r#"{"a b":[1,2]}"#"##
        );
        assert_eq!(json_literal(r##"{"a":"#"}"##), r###"r##"{"a":"#"}"##"###);
        assert_eq!(json_literal(r#""a\" b""#), r##"r#""a\" b""#"##);
        assert_eq!(
            json_literal("\"\u{202e}\u{e0001}ü\""),
            r##"r#""\u202e\udb40\udc01ü""#"##
        );
        assert_eq!(json_literal("{\"a\":\n"), r#""{\"a\":\n""#);
    }

    #[test]
    fn a_function_has_the_name_of_its_command() {
        assert_eq!(function_name("BorrowBookCommand"), "borrow_book");
        assert_eq!(function_name("Command"), "command");
    }
}
