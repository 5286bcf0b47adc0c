//! A dry run as the source code of a test. The test names types of events by their texts and has values as JSON,
//! so it compiles in every module of the application, also with events whose Rust type is gone.

use std::fmt::{self, Write as _};

use es_command::command::{CommandDescriptor, ParameterOrigin};
use es_event::{Caller, DecodeError, RecordedEvent};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::dry_runner::{DryRunResponse, EventResponse};

/// A dry run with everything that a test needs to repeat it.
#[derive(Debug)]
pub(super) struct DryRunTestSource<'a> {
    pub(super) command: &'a CommandDescriptor,
    /// The command as it was entered.
    pub(super) json: &'a str,
    /// The sender of the command.
    pub(super) caller: &'a Caller,
    /// The time of the clock.
    pub(super) time: Timestamp,
    /// The events that were read.
    pub(super) past: &'a [RecordedEvent],
    pub(super) response: &'a DryRunResponse,
}

/// The payload in the data of an event.
#[derive(Deserialize)]
struct PayloadOnly<'a> {
    #[serde(borrow)]
    payload: &'a RawValue,
}

impl DryRunTestSource<'_> {
    /// Returns the source code.
    pub(super) fn to_rust(&self) -> Result<String, DecodeError> {
        let mut code = String::new();
        let written = self.write(&mut code)?;
        // Writing to a string does not fail.
        written.unwrap_or_default();
        Ok(code)
    }

    fn write(&self, code: &mut String) -> Result<fmt::Result, DecodeError> {
        let mut past = String::new();
        for event in self.past {
            let payload = event.raw_payload()?.get();
            let fields = [event.subject.as_str(), event.event_type.as_str()];
            let [subject, event_type] = fields.map(|text| format!("{text:?}"));
            past.push_str(&format!(
                "        .event_json(\n            {subject},\n            {event_type},\n            {},\n        )\n",
                json_literal(payload)
            ));
        }
        Ok(self.write_around(code, &past))
    }

    fn write_around(&self, code: &mut String, past: &str) -> fmt::Result {
        let name = function_name(self.command.name);
        let outcome = match &self.response.problem {
            None => "accepted".to_owned(),
            Some(problem) => format!("rejected_as_{}", problem.0.name().replace('-', "_")),
        };
        let at = match &self.response.at {
            Some(at) => format!("as of event {at}"),
            None => "without any event".to_owned(),
        };
        writeln!(code, "/// A dry run of the console {at}.")?;
        let settings = self.services();
        if !settings.is_empty() {
            writeln!(
                code,
                "/// The handler takes {settings}: add `.with(…)` for values other than the defaults."
            )?;
        }
        writeln!(code, "#[test]\nfn {name}_is_{outcome}() {{")?;
        writeln!(code, "    es_framework::testing::given()")?;
        writeln!(code, "        .at(\"{}\")", self.time)?;
        self.write_caller(code)?;
        code.push_str(past);
        let command = self.command.name;
        let json = json_literal(self.json);
        writeln!(
            code,
            "        .when_json(\n            {command:?},\n            {json},\n        )"
        )?;
        self.write_outcome(code)?;
        writeln!(code, "}}")
    }

    fn write_caller(&self, code: &mut String) -> fmt::Result {
        let Caller::Authenticated(caller) = self.caller else {
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

    fn write_outcome(&self, code: &mut String) -> fmt::Result {
        if let Some(problem) = &self.response.problem {
            let (name, detail) = (problem.0.name(), problem.0.detail());
            return writeln!(
                code,
                "        .then_problem(\n            {name:?},\n            {detail:?},\n        );"
            );
        }
        write!(code, "        .then_json([")?;
        for EventResponse {
            subject,
            r#type,
            data,
        } in &self.response.events
        {
            let payload = serde_json::from_str::<PayloadOnly<'_>>(data.get());
            let payload = payload.map_or("null", |part| part.payload.get());
            let payload = json_literal(payload);
            write!(
                code,
                "\n            (\n                {subject:?},\n                {type:?},\n                {payload},\n            ),"
            )?;
        }
        if self.response.events.is_empty() {
            write!(code, "])")?
        } else {
            write!(code, "\n        ])")?
        }
        if let Some(reply) = &self.response.reply {
            write!(
                code,
                "\n        .then_reply_json({})",
                json_literal(reply.get())
            )?;
        }
        writeln!(code, ";")
    }

    /// Returns the services and settings that the handler takes, except for the clock.
    fn services(&self) -> String {
        let parameters = (self.command.parameters)().into_iter();
        let names = parameters.filter_map(|parameter| match parameter.origin {
            ParameterOrigin::Service(service) if service.name != "Clock" => {
                Some(format!("`{}`", service.name))
            }
            _ => None,
        });
        names.collect::<Vec<_>>().join(", ")
    }
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
