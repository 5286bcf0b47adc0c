//! Parses and validates the body of a request.

use std::borrow::Cow;

use es_event::{
    checked_json::{CheckedJson, RepeatedMember},
    json_numbers::{is_json, spell_out_integers},
};
use serde::de::DeserializeOwned;
use serde_json::value::to_raw_value;

use super::{
    Command, CommandError, CommandRequest, NoJsonBody, Violation, json_members::JsonMembers,
    nul_check::check_texts, wrong_values::read_or_find_wrong_values,
};
use crate::validate::Violations;

/// Parses a command. Path parameters fill the members of the same name.
pub(super) fn parse_command<C: Command>(request: &CommandRequest<'_>) -> Result<C, CommandError> {
    from_slice(&command_json(request)?)
}

/// Returns the JSON of a command, which is checked for what serde accepts silently.
fn command_json<'a>(request: &CommandRequest<'a>) -> Result<Cow<'a, [u8]>, CommandError> {
    if request.body.trim_ascii().is_empty() && request.path_parameters.is_empty() {
        return Err(NoJsonBody::Empty.into());
    }
    check_texts(request)?;
    check_members(request.body)?;
    if request.path_parameters.is_empty() {
        check_is_object(request.body)?;
        return Ok(request.body.into());
    }
    Ok(merge_path_parameters(request)?.into())
}

/// Refuses an array. serde would take its elements as the members in the order of their declaration.
fn check_is_object(body: &[u8]) -> Result<(), CommandError> {
    if body.trim_ascii_start().first() != Some(&b'[') {
        return Ok(());
    }
    let message = "the body must be a JSON object, not an array".to_owned();
    let pointer = String::new();
    Err(CommandError::Invalid(vec![Violation { pointer, message }]))
}

/// Refuses an object that has a member twice. A map and free JSON would keep one of the two values silently.
fn check_members(body: &[u8]) -> Result<(), CommandError> {
    // The next step describes text that is no JSON.
    let checked: CheckedJson = serde_json::from_slice(body).unwrap_or_default();
    match checked.repeated_member {
        None => Ok(()),
        Some(RepeatedMember { pointer, .. }) => {
            let message = "stands here twice: leave one of them out".to_owned();
            Err(CommandError::Invalid(vec![Violation { pointer, message }]))
        }
    }
}

/// Checks every validation rule of the command.
/// `body` is the request from which it was parsed, or nothing.
pub(super) fn validate_command<C: Command>(command: &C, body: &[u8]) -> Result<(), CommandError> {
    let mut violations = Violations::of_request(body);
    command.validate(&mut violations);
    CommandError::refuse_violations(violations)
}

/// Adds the path parameters to the body. The other members stay as the client wrote them.
fn merge_path_parameters(request: &CommandRequest<'_>) -> Result<Vec<u8>, CommandError> {
    let mut members: JsonMembers = match request.body.trim_ascii() {
        b"" => JsonMembers::default(),
        body => from_slice(body)?,
    };
    let encode = |error: serde_json::Error| CommandError::Encode(error.to_string());
    for (name, value) in request.path_parameters {
        let contradicts = |json: &str| {
            let text: Option<String> = serde_json::from_str(json).ok();
            text.as_deref() != Some(*value)
        };
        if members
            .remove_all(name)
            .iter()
            .any(|json| contradicts(json.get()))
        {
            let message = "contradicts the path: leave it out of the body".to_owned();
            let pointer = format!("/{name}");
            return Err(CommandError::Invalid(vec![Violation { pointer, message }]));
        }
        members.push(name, to_raw_value(value).map_err(encode)?);
    }
    serde_json::to_vec(&members).map_err(encode)
}

fn from_slice<T: DeserializeOwned>(body: &[u8]) -> Result<T, CommandError> {
    serde_json::from_slice(body).or_else(|error| {
        // Only a body that was refused is read once more, to find all values at fault.
        let json = valid_json(body).ok_or_else(|| NoJsonBody::Syntax(error.to_string()))?;
        read_or_find_wrong_values(&json).map_err(CommandError::Invalid)
    })
}

/// Returns the body with its integers in plain digits, if it is JSON.
fn valid_json(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    is_json(text).then(|| spell_out_integers(text).into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use es_event::time_text;
    use jiff::{Timestamp, civil::Date};
    use serde::Deserialize;

    use super::*;
    use crate::command::CommandContext;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only its shape matters")]
    struct Outer {
        name: String,
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only its shape matters")]
    struct Inner {
        count: u8,
    }

    fn violation(body: &str) -> (String, String) {
        match from_slice::<Outer>(body.as_bytes()).unwrap_err() {
            CommandError::Invalid(violations) => {
                let first = violations.into_iter().next().unwrap();
                (first.pointer, first.message)
            }
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_wrong_value_is_told_at_its_place() {
        let (pointer, message) = violation(r#"{"name":"a","inner":[{"count":1},{"count":"2"}]}"#);
        assert_eq!(pointer, "/inner/1/count");
        assert!(message.starts_with("invalid type: string"), "{message}");
        assert!(!message.contains("line"), "{message}");
    }

    #[test]
    fn a_missing_member_is_told_where_it_is_missing() {
        let missing = |pointer: &str| (pointer.to_owned(), "is missing".to_owned());
        assert_eq!(violation(r#"{"inner":[]}"#), missing("/name"));
        assert_eq!(
            violation(r#"{"name":"a","inner":[{}]}"#),
            missing("/inner/0/count")
        );
    }

    #[test]
    fn an_unknown_member_is_told_with_those_that_are_known() {
        let (pointer, message) = violation(r#"{"name":"a","inner":[],"colour":1}"#);
        assert_eq!(pointer, "/colour");
        assert_eq!(
            message,
            "unknown field `colour`, expected `name` or `inner`"
        );
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    #[allow(dead_code, reason = "only its shape matters")]
    struct Numbers {
        integer: i64,
        large: u128,
        single: f32,
        double: f64,
        by_number: BTreeMap<u8, u8>,
        at: Timestamp,
        on: Date,
    }

    #[test]
    fn valid_json_is_told_which_rule_it_breaks() {
        let year_10_000 = "9999-12-31T23:59:59Z";
        let ten_digits = "2026-07-01T12:00:00.0123456789Z";
        let broken = [
            (r#"{"by_number":{"300":1}}"#.to_owned(), "/by_number/300"),
            (r#"{"by_number":{"x":1}}"#.to_owned(), "/by_number"),
            (r#"{"double":1e999}"#.to_owned(), "/double"),
            (r#"{"single":1e999}"#.to_owned(), "/single"),
            (format!(r#"{{"large":{}0}}"#, u128::MAX), "/large"),
            (r#"{"integer":92233720368547758070}"#.to_owned(), "/integer"),
            (r#"{"integer":1.5}"#.to_owned(), "/integer"),
            (format!(r#"{{"at":"{year_10_000}"}}"#), "/at"),
            (format!(r#"{{"at":"{ten_digits}"}}"#), "/at"),
            (r#"{"on":"2026-02-30"}"#.to_owned(), "/on"),
            (r#"{"at":"29.03.2026"}"#.to_owned(), "/at"),
            (r#"{"on":"29.03.2026","at":"29.03.2026"}"#.to_owned(), "/on"),
            (r#"{"on":"2026-07-01T12:00:00Z"}"#.to_owned(), "/on"),
        ];
        for (body, place) in broken {
            match from_slice::<Numbers>(body.as_bytes()) {
                Err(CommandError::Invalid(violations)) => {
                    assert_eq!(violations[0].pointer, place, "{violations:?}");
                    let message = violations[0].message.as_str();
                    let rules = [("/at", time_text::RULE), ("/on", time_text::DATE_RULE)];
                    let broken = rules.iter().find(|(_, rule)| *rule == message);
                    let expected = rules.iter().find(|(of_type, _)| *of_type == place);
                    assert_eq!(broken, expected, "{violations:?}");
                }
                other => panic!("{body}: {other:?}"),
            }
        }
    }

    #[test]
    fn text_that_is_no_json_is_malformed() {
        for body in [
            &b"{\"integer\":01}"[..],
            b"{",
            b"{}}",
            b"\"\xff\"",
            b"{\"integer\":1.}",
        ] {
            let error = from_slice::<Numbers>(body).unwrap_err();
            assert!(matches!(error, CommandError::Malformed(_)), "{error:?}");
        }
    }

    #[test]
    fn every_spelling_of_an_integer_is_accepted() {
        let body = br#"{"integer":-0,"large":1e20,"by_number":{"1":310.0e-1},"double":1e3}"#;
        let numbers: Numbers = from_slice(body).unwrap();
        assert_eq!(numbers.integer, 0);
        assert_eq!(numbers.large, 100_000_000_000_000_000_000);
        assert_eq!(numbers.by_number[&1], 31);
    }

    fn merged(body: &str) -> Result<String, CommandError> {
        let request = CommandRequest {
            body: body.as_bytes(),
            path_parameters: &[("id", "4\"2")],
            context: &CommandContext::default(),
        };
        merge_path_parameters(&request).map(|body| String::from_utf8(body).unwrap())
    }

    #[test]
    fn members_beside_a_path_parameter_stay_as_they_were_written() {
        let body = r#" {"debt": 340282366920938463463374607431768211455, "a":1.50,"a":2} "#;
        let whole =
            r#"{"debt":340282366920938463463374607431768211455,"a":1.50,"a":2,"id":"4\"2"}"#;
        assert_eq!(merged(body).unwrap(), whole);
        assert_eq!(merged("").unwrap(), r#"{"id":"4\"2"}"#);
        assert_eq!(merged(r#"{"id":"4\u00222"}"#).unwrap(), r#"{"id":"4\"2"}"#);
    }

    #[test]
    fn a_member_that_contradicts_the_path_is_refused() {
        for body in [
            r#"{"id":"43"}"#,
            r#"{"id":42}"#,
            r#"{"id":"4\"2","id":"43"}"#,
        ] {
            match merged(body) {
                Err(CommandError::Invalid(violations)) => assert_eq!(violations[0].pointer, "/id"),
                other => panic!("{body}: {other:?}"),
            }
        }
    }
}
