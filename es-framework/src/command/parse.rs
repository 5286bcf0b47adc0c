//! From the text of a request to a command.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, error::Category};

use super::{Command, CommandError, CommandText, MalformedCommand, Violation, Violations};

/// Reads a command; path parameters fill the members of the same name.
pub(super) fn parse<C: Command>(text: &CommandText<'_>) -> Result<C, CommandError> {
    if text.body.trim_ascii().is_empty() && text.path_parameters.is_empty() {
        return Err(MalformedCommand::Empty.into());
    }
    if text.path_parameters.is_empty() {
        return from_slice(text.body);
    }
    let body = with_path_parameters(text)?;
    from_slice(&body)
}

/// Checks every rule of the command.
pub(super) fn validate<C: Command>(command: &C) -> Result<(), CommandError> {
    let mut violations = Violations::default();
    command.validate(&mut violations);
    match violations.into_vec() {
        none if none.is_empty() => Ok(()),
        violations => Err(CommandError::Invalid(violations)),
    }
}

fn with_path_parameters(text: &CommandText<'_>) -> Result<Vec<u8>, CommandError> {
    let mut members: Map<String, Value> = match text.body.trim_ascii() {
        b"" => Map::new(),
        body => from_slice(body)?,
    };
    for (name, value) in text.path_parameters {
        let given = members.insert((*name).to_owned(), Value::String((*value).to_owned()));
        if given.is_some_and(|given| given.as_str() != Some(*value)) {
            let message = "contradicts the path: leave it out of the body".to_owned();
            let pointer = format!("/{name}");
            return Err(CommandError::Invalid(vec![Violation { pointer, message }]));
        }
    }
    serde_json::to_vec(&members).map_err(|error| CommandError::Encode(error.to_string()))
}

fn from_slice<T: DeserializeOwned>(body: &[u8]) -> Result<T, CommandError> {
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        Category::Data => data_error::<T>(body, &error),
        Category::Syntax | Category::Eof | Category::Io => {
            MalformedCommand::Syntax(error.to_string()).into()
        }
    })
}

/// Reads the text once more, this time noting where it goes wrong: only requests that fail pay for
/// it.
fn data_error<T: DeserializeOwned>(body: &[u8], error: &serde_json::Error) -> CommandError {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let (pointer, message) = match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Ok(_) => (String::new(), error.to_string()),
        Err(located) => (pointer(located.path()), located.inner().to_string()),
    };
    // The position says nothing that the pointer does not.
    let message = match message.rfind(" at line ") {
        Some(end) => message.get(..end).unwrap_or(&message).to_owned(),
        None => message,
    };
    CommandError::Invalid(vec![Violation { pointer, message }])
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;

    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => {
                pointer.push_str(&format!("/{}", key.replace('~', "~0").replace('/', "~1")))
            }
            Segment::Enum { variant } => pointer.push_str(&format!("/{variant}")),
            Segment::Unknown => {}
        }
    }
    pointer
}
