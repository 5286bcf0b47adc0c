//! Personal data in the JSON of an event: the marks around declared members, and the sealed objects that are stored.

use std::{borrow::Cow, cell::Cell, fmt, ops::Range};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
    ser::SerializeMap as _,
};
use serde_json::value::RawValue;

/// The only member of an object that stands for a declared value while its event is marked.
#[doc(hidden)]
pub const MARK: &str = "$personal";

/// The only member of an object that stands for a sealed value in a stored event.
#[doc(hidden)]
pub const SEAL: &str = "$sealed";

/// The keyword that a declared member has in the schema of its event.
#[doc(hidden)]
pub const KEYWORD: &str = "x-personal";

/// Deeper JSON than any declaration has. It bounds the recursion.
const MAX_DEPTH: usize = 128;

thread_local! {
    static IS_MARKING: Cell<bool> = const { Cell::new(false) };
}

/// The type of a field that names a person.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a person",
    label = "this is no id of a person",
    note = "`of` names a field of type `Uuid`: an id that says nothing about the person and that no other person has"
)]
pub trait PersonId {}

impl PersonId for uuid::Uuid {}

/// Compiles only if the type names a person.
#[doc(hidden)]
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
#[doc(hidden)]
#[derive(Debug, Serialize, Deserialize)]
pub struct PersonalValue<P, V> {
    /// The JSON name of the sibling member that names the person.
    pub of: P,
    /// The replacement of the value after the erasure.
    pub erased: V,
    /// The value.
    pub value: V,
}

/// Serializes a declared value. The generated code calls it.
#[doc(hidden)]
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
#[doc(hidden)]
pub fn to_marked_json<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let _marking = MarkingScope::begin(true);
    serde_json::to_string(value)
}

/// An object with a single member of the name that was searched for.
#[doc(hidden)]
#[derive(Debug)]
pub struct MarkedObject<'a> {
    /// The bytes of the object.
    pub span: Range<usize>,
    /// The JSON pointer to the object.
    pub path: &'a str,
    /// The value of the single member.
    pub body: &'a RawValue,
    siblings: &'a [(Cow<'a, str>, &'a RawValue)],
}

impl<'a> MarkedObject<'a> {
    /// Returns the value of a member beside the object.
    #[must_use]
    pub fn sibling(&self, name: &str) -> Option<&'a RawValue> {
        let mut siblings = self.siblings.iter();
        siblings.find_map(|(other, value)| (other == name).then_some(*value))
    }
}

/// Calls `visit` for each object of compact JSON whose only member has this name.
///
/// A text of a client cannot look like such an object, because JSON escapes the quotation marks in it.
#[doc(hidden)]
pub fn visit_marked<E: From<serde_json::Error>>(
    json: &str,
    name: &str,
    visit: &mut dyn FnMut(MarkedObject<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let prefix = format!("{{\"{name}\":");
    if !json.contains(&prefix) {
        return Ok(());
    }
    let value: &RawValue = serde_json::from_str(json)?;
    let mut walk = Walk {
        json,
        name,
        prefix: &prefix,
        path: String::new(),
        visit,
    };
    walk.enter(value, &[], 0)
}

/// Replaces parts of a text. The parts are in ascending order.
#[doc(hidden)]
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

struct Walk<'w, E> {
    json: &'w str,
    name: &'w str,
    prefix: &'w str,
    path: String,
    visit: &'w mut dyn FnMut(MarkedObject<'_>) -> Result<(), E>,
}

impl<E: From<serde_json::Error>> Walk<'_, E> {
    fn enter(
        &mut self,
        value: &RawValue,
        siblings: &[(Cow<'_, str>, &RawValue)],
        depth: usize,
    ) -> Result<(), E> {
        let text = value.get();
        if depth > MAX_DEPTH || !text.contains(self.prefix) {
            return Ok(());
        }
        if !text.starts_with('{') {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            for (index, item) in items.into_iter().enumerate() {
                self.step(&index.to_string(), item, &[], depth)?;
            }
            return Ok(());
        }
        let Members(members) = serde_json::from_str(text)?;
        if let [(name, body)] = members.as_slice()
            && name == self.name
        {
            let start = text
                .as_ptr()
                .addr()
                .saturating_sub(self.json.as_ptr().addr());
            return (self.visit)(MarkedObject {
                span: start..start.saturating_add(text.len()),
                path: &self.path,
                body,
                siblings,
            });
        }
        for (name, value) in &members {
            self.step(name, value, &members, depth)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        name: &str,
        value: &RawValue,
        siblings: &[(Cow<'_, str>, &RawValue)],
        depth: usize,
    ) -> Result<(), E> {
        let length = self.path.len();
        self.path.push('/');
        self.path
            .push_str(&name.replace('~', "~0").replace('/', "~1"));
        let entered = self.enter(value, siblings, depth.saturating_add(1));
        self.path.truncate(length);
        entered
    }
}

/// The members of an object, borrowed from its text.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// A name that is copied only if it is written with escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str) -> Vec<(String, String, Option<String>)> {
        let mut found = vec![];
        visit_marked::<serde_json::Error>(json, SEAL, &mut |object| {
            let sibling = object.sibling("id").map(|id| id.get().to_owned());
            assert_eq!(
                &json[object.span.clone()],
                format!("{{\"$sealed\":{}}}", object.body)
            );
            found.push((
                object.path.to_owned(),
                object.body.get().to_owned(),
                sibling,
            ));
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn objects_are_found_at_any_depth_with_their_path_and_their_siblings() {
        let json =
            r#"{"a":{"$sealed":1},"b":[{"id":7,"x/y":{"$sealed":[2]}},3],"c":"{\"$sealed\":4}"}"#;
        let expected = [
            ("/a".to_owned(), "1".to_owned(), None),
            (
                "/b/0/x~1y".to_owned(),
                "[2]".to_owned(),
                Some("7".to_owned()),
            ),
        ];
        assert_eq!(found(json), expected);
    }

    #[test]
    fn an_object_with_other_members_is_no_mark() {
        assert_eq!(found(r#"{"a":{"$sealed":1,"b":2}}"#), []);
        assert_eq!(found(r#"{"a":"$sealed"}"#), []);
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
