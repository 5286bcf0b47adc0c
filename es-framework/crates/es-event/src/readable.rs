//! Writes an event only if its declaration reads it back. What is stored stays for ever, so an event that
//! cannot be read would stop its subject and its read models.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use super::{
    Event, Metadata, descriptor, encode, envelope::PayloadOnly, finite_numbers,
    unreadable_value::UnreadableValue,
};

/// Serializes metadata and an event like [`encode`], and proves that the event's declaration reads the same
/// event back: it deserializes the JSON and serializes it again. For an event of ten members this costs a
/// microsecond, where a durable append costs a hundred times as much.
///
/// ```
/// use es_event::{Declaration, Event, Metadata, encode_event};
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct BookRemovedEvent {
///     reason: String,
/// }
/// # impl Event for BookRemovedEvent {
/// #     const TYPE: &str = "com.example.library.BookRemovedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// let removed = BookRemovedEvent { reason: "torn".into() };
/// let data = encode_event(&Metadata::default(), &removed)?;
/// assert_eq!(data.get(), r#"{"metadata":{},"payload":{"reason":"torn"}}"#);
/// # Ok::<_, es_event::UnreadableValue>(())
/// ```
///
/// # Errors
/// Fails if the event has no JSON form, if its declaration cannot read that form, or if it reads another
/// event.
pub fn encode_event<E: Event>(
    metadata: &Metadata,
    event: &E,
) -> Result<Box<RawValue>, UnreadableValue> {
    finite_numbers::check(event)?;
    let data = encode(metadata, event).map_err(whole)?;
    let parsed = serde_json::from_str::<PayloadOnly<E>>(data.get());
    let read = parsed.map_err(|_| locate_error(event))?.payload;
    let again = encode(metadata, &read).map_err(whole)?;
    if data.get() != again.get() {
        compare(event, &read)?;
    }
    Ok(data)
}

/// Serializes a value that this program reads again, such as a state in a snapshot, with the same proof.
///
/// # Errors
/// Fails for the same reasons as [`encode_event`].
pub fn encode_readable<T: Serialize + DeserializeOwned>(
    value: &T,
) -> Result<Box<RawValue>, UnreadableValue> {
    let json = encode_finite(value)?;
    let read = serde_json::from_str::<T>(json.get()).map_err(|_| locate_error(value))?;
    let again = serde_json::value::to_raw_value(&read).map_err(whole)?;
    if json.get() != again.get() {
        compare(value, &read)?;
    }
    Ok(json)
}

/// Serializes a value that clients read, such as a reply.
///
/// # Errors
/// Fails if the value has no JSON form, or if it contains a number that JSON cannot hold.
pub fn encode_finite<T: Serialize>(value: &T) -> Result<Box<RawValue>, UnreadableValue> {
    finite_numbers::check(value)?;
    serde_json::value::to_raw_value(value).map_err(whole)
}

fn whole(error: serde_json::Error) -> UnreadableValue {
    UnreadableValue::new([], error.to_string())
}

/// Reads the value once more to find the place of the error.
fn locate_error<T: Serialize + DeserializeOwned>(value: &T) -> UnreadableValue {
    let payload = match serde_json::to_string(value) {
        Ok(payload) => payload,
        Err(error) => return whole(error),
    };
    match descriptor::decode::<T>(&payload) {
        Ok(_) => UnreadableValue::new([], "its JSON cannot be read"),
        Err(error) => {
            let missing = error.missing_member().map(str::to_owned);
            let path = error.path.iter().map(String::as_str);
            let reason = match &missing {
                Some(_) => {
                    "it is left out of the JSON, and is required there: write `#[serde(default)]` above the field".to_owned()
                }
                None => format!("its own declaration cannot read it: {}", error.reason),
            };
            UnreadableValue::new(path.chain(missing.as_deref()), reason)
        }
    }
}

/// Compares the JSON of what was written with that of what was read, except for the order of sets and maps,
/// which differs from one value to the next.
fn compare<T: Serialize>(written: &T, read: &T) -> Result<(), UnreadableValue> {
    let written = to_tree(written)?;
    let read = to_tree(read)?;
    let Some(path) = find_difference(&written, &read) else {
        return Ok(());
    };
    let reason = "it is read back as another value: its type or its `#[serde(…)]` attributes write what they do not read";
    Err(UnreadableValue::new(
        path.iter().rev().map(String::as_str),
        reason,
    ))
}

/// Returns the JSON as a tree. The way through the text takes integers of any size.
fn to_tree<T: Serialize>(value: &T) -> Result<Value, UnreadableValue> {
    let text = serde_json::to_string(value).map_err(whole)?;
    serde_json::from_str(&text).map_err(whole)
}

/// Returns the path of the first difference, from the inside out. The order of a list's items is none.
#[must_use]
fn find_difference(written: &Value, read: &Value) -> Option<Vec<String>> {
    let inside = |name: &str, written: Option<&Value>, read: Option<&Value>| {
        let mut path = match (written, read) {
            (Some(written), Some(read)) => find_difference(written, read)?,
            (None, None) => return None,
            _ => vec![],
        };
        path.push(name.to_owned());
        Some(path)
    };
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => {
            let mut names = written.keys().chain(read.keys());
            names.find_map(|name| inside(name, written.get(name), read.get(name)))
        }
        (Value::Array(items), Value::Array(others)) => {
            if sorted(written) == sorted(read) {
                return None;
            }
            let mut indexes = 0..items.len().max(others.len());
            indexes.find_map(|at| inside(&at.to_string(), items.get(at), others.get(at)))
        }
        (written, read) => (written != read).then(Vec::new),
    }
}

/// Returns the value with the items of each list in one order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(sorted).collect();
            items.sort_by_cached_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(
                members
                    .map(|(name, value)| (name.clone(), sorted(value)))
                    .collect(),
            )
        }
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests;
