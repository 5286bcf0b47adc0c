//! Parses and validates the body of a request.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, error::Category};

use super::{
    Command, CommandError, CommandRequest, MalformedCommand, Violation, nul_check::check_texts,
};
use crate::validate::{Violations, push_member};

/// Parses a command. Path parameters fill the members of the same name.
pub(super) fn parse_command<C: Command>(request: &CommandRequest<'_>) -> Result<C, CommandError> {
    if request.body.trim_ascii().is_empty() && request.path_parameters.is_empty() {
        return Err(MalformedCommand::Empty.into());
    }
    check_texts(request)?;
    if request.path_parameters.is_empty() {
        check_is_object(request.body)?;
        return from_slice(request.body);
    }
    let body = merge_path_parameters(request)?;
    from_slice(&body)
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

/// Checks every validation rule of the command.
pub(super) fn validate_command<C: Command>(command: &C) -> Result<(), CommandError> {
    let mut violations = Violations::default();
    command.validate(&mut violations);
    match violations.into_vec() {
        none if none.is_empty() => Ok(()),
        violations => Err(CommandError::Invalid(violations)),
    }
}

fn merge_path_parameters(request: &CommandRequest<'_>) -> Result<Vec<u8>, CommandError> {
    let mut members: Map<String, Value> = match request.body.trim_ascii() {
        b"" => Map::new(),
        body => from_slice(body)?,
    };
    for (name, value) in request.path_parameters {
        let in_body = members.insert((*name).to_owned(), Value::String((*value).to_owned()));
        if in_body.is_some_and(|in_body| in_body.as_str() != Some(*value)) {
            let message = "contradicts the path: leave it out of the body".to_owned();
            let pointer = format!("/{name}");
            return Err(CommandError::Invalid(vec![Violation { pointer, message }]));
        }
    }
    serde_json::to_vec(&members).map_err(|error| CommandError::Encode(error.to_string()))
}

fn from_slice<T: DeserializeOwned>(body: &[u8]) -> Result<T, CommandError> {
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        Category::Data => locate_data_error::<T>(body, &error),
        Category::Syntax | Category::Eof | Category::Io => {
            MalformedCommand::Syntax(error.to_string()).into()
        }
    })
}

/// Parses the body once more to find the JSON pointer of the error. Only invalid requests pay for
/// it.
fn locate_data_error<T: DeserializeOwned>(body: &[u8], error: &serde_json::Error) -> CommandError {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let (mut pointer, message) = match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Ok(_) => (String::new(), error.to_string()),
        Err(located) => (pointer(located.path()), located.inner().to_string()),
    };
    // The pointer replaces the line and column.
    let message = message
        .rfind(" at line ")
        .and_then(|end| message.get(..end))
        .unwrap_or(&message);
    // Serde reports a missing member at its object. A form shows the message at the member.
    let missing = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'));
    let message = match missing {
        Some(member) => {
            push_member(&mut pointer, member);
            "is missing".to_owned()
        }
        None => message.to_owned(),
    };
    CommandError::Invalid(vec![Violation { pointer, message }])
}

/// Converts the path of an error to a JSON pointer.
fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;

    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => push_member(&mut pointer, &index.to_string()),
            Segment::Map { key } => push_member(&mut pointer, key),
            Segment::Enum { variant } => push_member(&mut pointer, variant),
            Segment::Unknown => {}
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

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
}
