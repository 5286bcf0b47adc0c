//! Personal data in the JSON of an event: the marks around declared members, and the sealed objects that are stored.

mod replaced_values;

use std::{cell::Cell, collections::HashMap, mem, ops::Range};

use memchr::memmem;
use serde::{Deserialize, Serialize, Serializer, de::IgnoredAny, ser::SerializeMap as _};
use serde_json::value::RawValue;

use crate::{InvalidSubjectValue, RecordedEvent, Subject, SubjectTemplatePart};

pub(crate) use replaced_values::replace_values;

/// The only member of an object that stands for a declared value while its event is marked.
pub const MARK: &str = "$personal";

/// The only member of an object that stands for a sealed value in a stored event.
pub const SEAL: &str = "$sealed";

/// The parent of the subjects on which erasures are announced, each with the id of its person.
pub const ERASURES: &str = "/es-framework/personal-data";

/// Returns the subject above those of all announced erasures.
#[doc(hidden)]
pub fn erasures_subject() -> Result<Subject, InvalidSubjectValue> {
    Subject::fill_template(&[SubjectTemplatePart::Text(ERASURES)])
}

/// Returns true if an event announces an erasure, after which keys, rows and states of its person are used no longer.
#[doc(hidden)]
#[must_use]
pub fn announces_erasure(event: &RecordedEvent) -> bool {
    let below = event.subject.as_str().strip_prefix(ERASURES);
    below.is_some_and(|person| person.starts_with('/'))
}

/// The keyword that a declared member has in the schema of its event.
pub const KEYWORD: &str = "x-personal";

/// Deeper JSON than any declaration has. `serde_json` refuses more than 128 levels.
const MAX_DEPTH: usize = 120;

thread_local! {
    static IS_MARKING: Cell<bool> = const { Cell::new(false) };
}

/// The type of a field that names a person.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a person",
    label = "this is no id of a person",
    note = "`of` names a field of type `Uuid`: an id that says nothing about the person and that no other person has"
)]
pub trait PersonId {}

impl PersonId for uuid::Uuid {}

/// Compiles only if the type names a person.
pub const fn check_person_id<T: PersonId>() {}

/// Switches marks on or off until it is dropped.
struct MarkingScope(bool);

impl MarkingScope {
    fn begin(is_marking: bool) -> Self {
        Self(IS_MARKING.replace(is_marking))
    }
}

impl Drop for MarkingScope {
    fn drop(&mut self) {
        IS_MARKING.set(self.0);
    }
}

/// A declared value in the JSON of a marked event.
#[derive(Debug, Serialize, Deserialize)]
pub struct PersonalValue<P, V> {
    /// The JSON name of the sibling member that names the person.
    pub of: P,
    /// The replacement of the value after the erasure.
    pub erased: V,
    /// The value.
    pub value: V,
}

/// Serializes a value that is declared as personal. The generated code calls it.
pub fn serialize<T: Serialize, S: Serializer>(
    value: &T,
    of: &'static str,
    erased: impl FnOnce() -> T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if !IS_MARKING.get() {
        return value.serialize(serializer);
    }
    // The outermost declared value is sealed as a whole.
    let _plain = MarkingScope::begin(false);
    let erased = &erased();
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(MARK, &PersonalValue { of, erased, value })?;
    map.end()
}

/// Serializes a value with a mark around each declared part, at any depth.
pub(crate) fn to_marked_json<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let _marking = MarkingScope::begin(true);
    serde_json::to_string(value)
}

/// An object with a single member of the name that was searched for.
#[derive(Debug)]
pub struct MarkedObject<'a, T> {
    /// The bytes of the object.
    pub span: Range<usize>,
    /// The JSON pointer to the object.
    pub path: String,
    /// The value of the single member, or an error if it has another form.
    pub body: Result<T, serde_json::Error>,
    /// The JSON from the object around it on, if this object is one of its members.
    parent: Option<&'a str>,
}

impl<T> MarkedObject<'_, T> {
    /// Returns the text of a member beside the object.
    #[must_use]
    pub fn sibling(&self, name: &str) -> Option<String> {
        let mut json = serde_json::Deserializer::from_str(self.parent?);
        let members = HashMap::<String, &RawValue>::deserialize(&mut json).ok()?;
        serde_json::from_str(members.get(name)?.get()).ok()
    }
}

/// Returns the objects of compact JSON whose only member has this name, in their order. The JSON is valid.
///
/// A text of a client cannot look like such an object, because JSON escapes the quotation marks in it.
pub fn find_marked<'a, T: Deserialize<'a>>(
    json: &'a str,
    name: &str,
) -> Result<Vec<MarkedObject<'a, T>>, serde_json::Error> {
    let prefix = format!("{{\"{name}\":");
    let mut position = JsonPosition::default();
    let mut found = Vec::new();
    for start in memmem::find_iter(json.as_bytes(), &prefix) {
        while position.offset < start {
            position.step(json);
        }
        let body_start = start.saturating_add(prefix.len());
        let rest = json.get(body_start..).unwrap_or_default();
        let (body, body_length) = parse_value::<T>(rest);
        // The object may have another form if it has other members.
        let body_length = match &body {
            Ok(_) => body_length,
            Err(_) => parse_value::<IgnoredAny>(rest).1,
        };
        let is_only_member = rest.as_bytes().get(body_length) == Some(&b'}');
        // A place that was passed is in an object that was found.
        if is_only_member && position.offset == start && position.around.len() < MAX_DEPTH {
            let end = body_start.saturating_add(body_length).saturating_add(1);
            if body.is_ok() {
                position.offset = end;
            }
            found.push(MarkedObject {
                span: start..end,
                path: position.pointer(json)?,
                body,
                parent: position.parent(json),
            });
        }
    }
    Ok(found)
}

/// Parses the JSON value with which a text begins, and returns it with its length.
fn parse_value<'a, T: Deserialize<'a>>(json: &'a str) -> (Result<T, serde_json::Error>, usize) {
    let mut values = serde_json::Deserializer::from_str(json).into_iter();
    let end = || <serde_json::Error as serde::de::Error>::custom("the JSON ends before a value");
    let value = values.next().unwrap_or_else(|| Err(end()));
    (value, values.byte_offset())
}

/// Replaces parts of a text. The parts are in ascending order.
#[must_use]
pub fn splice(text: &str, parts: impl IntoIterator<Item = (Range<usize>, String)>) -> String {
    let mut spliced = String::with_capacity(text.len());
    let mut copied = 0;
    for (span, replacement) in parts {
        spliced.push_str(text.get(copied..span.start).unwrap_or_default());
        spliced.push_str(&replacement);
        copied = span.end;
    }
    spliced.push_str(text.get(copied..).unwrap_or_default());
    spliced
}

/// A place in valid JSON, with the objects and lists around it.
#[derive(Default)]
struct JsonPosition {
    offset: usize,
    around: Vec<Around>,
    /// True if the next text is the name of a member.
    is_before_name: bool,
}

/// An object or a list around a place.
struct Around {
    start: usize,
    /// The bytes of the member's name, without quotation marks. A list has none.
    name: Option<Range<usize>>,
    index: usize,
}

impl JsonPosition {
    /// Goes over a text or over one other byte.
    fn step(&mut self, json: &str) {
        let start = self.offset;
        self.offset = start.saturating_add(1);
        match json.as_bytes().get(start) {
            Some(b'"') => {
                let name = self.offset..text_end(json.as_bytes(), self.offset);
                self.offset = name.end.saturating_add(1);
                if mem::take(&mut self.is_before_name)
                    && let Some(around) = self.around.last_mut()
                {
                    around.name = Some(name);
                }
            }
            Some(byte @ (b'{' | b'[')) => {
                self.is_before_name = *byte == b'{';
                let (name, index) = (None, 0);
                self.around.push(Around { start, name, index });
            }
            Some(b'}' | b']') => {
                self.around.pop();
            }
            Some(b',') => {
                if let Some(around) = self.around.last_mut() {
                    self.is_before_name = around.name.is_some();
                    around.index = around.index.saturating_add(1);
                }
            }
            _ => {}
        }
    }

    /// Returns the JSON pointer to the place.
    fn pointer(&self, json: &str) -> Result<String, serde_json::Error> {
        let mut pointer = String::with_capacity(64);
        for around in &self.around {
            pointer.push('/');
            let Some(name) = &around.name else {
                pointer.push_str(&around.index.to_string());
                continue;
            };
            let name = json.get(name.clone()).unwrap_or_default();
            if name.contains(['\\', '~', '/']) {
                let name: String = serde_json::from_str(&format!("\"{name}\""))?;
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
            } else {
                pointer.push_str(name);
            }
        }
        Ok(pointer)
    }

    /// Returns the JSON from the object around the place on.
    fn parent<'a>(&self, json: &'a str) -> Option<&'a str> {
        let around = self.around.last()?;
        around.name.as_ref()?;
        json.get(around.start..)
    }
}

/// Returns the offset of the quotation mark that ends a text.
fn text_end(json: &[u8], start: usize) -> usize {
    let mut rest = json.iter().enumerate().skip(start);
    while let Some((offset, byte)) = rest.next() {
        match byte {
            b'"' => return offset,
            b'\\' => {
                rest.next();
            }
            _ => {}
        }
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str) -> Vec<(String, String, Option<String>)> {
        let found = find_marked::<&RawValue>(json, SEAL).unwrap().into_iter();
        let parts = found.map(|object| {
            assert_eq!(
                &json[object.span.clone()],
                format!("{{\"$sealed\":{}}}", object.body.as_ref().unwrap())
            );
            let sibling = object.sibling("id");
            (object.path, object.body.unwrap().get().to_owned(), sibling)
        });
        parts.collect()
    }

    #[test]
    fn objects_are_found_at_any_depth_with_their_path_and_their_siblings() {
        let json = r#"{"a":{"$sealed":1},"b":["\\",{"x/\"y~":{"$sealed":[2]},"id":"7"},{},[{"$sealed":3}],3],"c":"{\"$sealed\":4}"}"#;
        let expected = [
            ("/a", "1", None),
            ("/b/1/x~1\"y~0", "[2]", Some("7")),
            ("/b/3/0", "3", None),
        ];
        let owned = |(path, body, id): (&str, &str, Option<&str>)| {
            (path.to_owned(), body.to_owned(), id.map(str::to_owned))
        };
        assert_eq!(found(json), expected.map(owned));
    }

    #[test]
    fn an_object_with_other_members_is_no_mark() {
        assert_eq!(found(r#"{"a":{"$sealed":1,"b":2}}"#), []);
        assert_eq!(found(r#"{"a":"$sealed"}"#), []);
    }

    #[test]
    fn an_object_of_another_form_is_found_with_an_error_and_with_the_marks_in_it() {
        let json = r#"{"a":{"$sealed":1,"b":2},"c":{"$sealed":{"d":{"$sealed":true}}}}"#;
        let found = find_marked::<bool>(json, SEAL).unwrap().into_iter();
        let found: Vec<_> = found.map(|one| (one.path, one.body.ok())).collect();
        let expected = [("/c", None), ("/c/$sealed/d", Some(true))];
        assert_eq!(found, expected.map(|(path, body)| (path.to_owned(), body)));
    }

    #[test]
    fn deep_json_does_not_exhaust_the_stack() {
        let json = format!(
            "{}{{\"$sealed\":1}}{}",
            "[".repeat(50_000),
            "]".repeat(50_000)
        );
        assert_eq!(found(&json), []);
    }

    #[test]
    fn parts_are_replaced_and_the_rest_stays() {
        let parts = [(1..2, "xyz".to_owned()), (3..4, String::new())];
        assert_eq!(splice("abcde", parts), "axyzce");
    }
}
