//! Personal data in the JSON of an event: the marks around declared members, and the sealed objects that are stored.

use std::{borrow::Cow, cell::Cell, fmt, ops::Range, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
    ser::SerializeMap as _,
};
use serde_json::value::RawValue;

/// The only member of an object that stands for a declared value while its event is marked.
#[doc(hidden)]
pub const MARK: &str = "$personal";

/// The only member of an object that stands for a sealed value in a stored event.
#[doc(hidden)]
pub const SEAL: &str = "$sealed";

/// The parent of the subjects on which erasures are announced, each with the id of its person.
#[doc(hidden)]
pub const ERASURES: &str = "/es-framework/personal-data";

/// The keyword that a declared member has in the schema of its event.
#[doc(hidden)]
pub const KEYWORD: &str = "x-personal";

/// Deeper JSON than any declaration has. `serde_json` refuses more than 128 levels.
const MAX_DEPTH: usize = 120;

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
    pub path: String,
    /// The value of the single member.
    pub body: &'a RawValue,
    /// The members beside the object that are texts without escapes.
    siblings: Arc<[(Cow<'a, str>, &'a str)]>,
}

impl<'a> MarkedObject<'a> {
    /// Returns the text of a member beside the object.
    #[must_use]
    pub fn sibling(&self, name: &str) -> Option<&'a str> {
        let mut siblings = self.siblings.iter();
        siblings.find_map(|(other, text)| (other == name).then_some(*text))
    }
}

/// Returns the objects of compact JSON whose only member has this name, in their order.
///
/// A text of a client cannot look like such an object, because JSON escapes the quotation marks in it.
#[doc(hidden)]
pub fn find_marked<'a>(
    json: &'a str,
    name: &str,
) -> Result<Vec<MarkedObject<'a>>, serde_json::Error> {
    let prefix = format!("{{\"{name}\":");
    if !json.contains(&prefix) {
        return Ok(Vec::new());
    }
    let mut search = MarkSearch {
        json,
        name,
        prefix: &prefix,
        path: String::new(),
        depth: 0,
        found: Vec::new(),
    };
    let mut deserializer = serde_json::Deserializer::from_str(json);
    if let WalkedValue::Mark(body) = search.deserialize(&mut deserializer)? {
        search.record(body);
    }
    deserializer.end()?;
    Ok(search.found)
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

/// A search that reads the JSON once.
struct MarkSearch<'s, 'a> {
    json: &'a str,
    name: &'s str,
    prefix: &'s str,
    /// The JSON pointer to the value that is read.
    path: String,
    depth: usize,
    found: Vec<MarkedObject<'a>>,
}

/// A value that the search has read.
enum WalkedValue<'a> {
    /// An object whose only member has the name, with the value of the member.
    Mark(&'a RawValue),
    Text(&'a str),
    Other,
}

/// A name that is copied only if it is written with escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> MarkSearch<'_, 'a> {
    /// Records a mark at the current path. Returns its index.
    fn record(&mut self, body: &'a RawValue) -> Option<usize> {
        let offset = body.get().as_ptr().addr();
        let offset = offset.checked_sub(self.json.as_ptr().addr())?;
        let start = offset.checked_sub(self.prefix.len())?;
        let end = offset.checked_add(body.get().len())?;
        let span = start..end.checked_add(1)?;
        let object = self.json.get(span.clone())?;
        if !(object.starts_with(self.prefix) && object.ends_with('}')) {
            return None;
        }
        self.found.push(MarkedObject {
            span,
            path: self.path.clone(),
            body,
            siblings: Arc::default(),
        });
        self.found.len().checked_sub(1)
    }

    /// Adds a step to the path, and returns the length before it.
    fn step(&mut self, name: &str) -> usize {
        let length = self.path.len();
        self.path.push('/');
        for character in name.chars() {
            match character {
                '~' => self.path.push_str("~0"),
                '/' => self.path.push_str("~1"),
                other => self.path.push(other),
            }
        }
        length
    }
}

impl<'de> DeserializeSeed<'de> for &mut MarkSearch<'_, 'de> {
    type Value = WalkedValue<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.depth >= MAX_DEPTH {
            return IgnoredAny::deserialize(deserializer).map(|_| WalkedValue::Other);
        }
        self.depth = self.depth.saturating_add(1);
        let walked = deserializer.deserialize_any(&mut *self);
        self.depth = self.depth.saturating_sub(1);
        walked
    }
}

impl<'de> Visitor<'de> for &mut MarkSearch<'_, 'de> {
    type Value = WalkedValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(WalkedValue::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(WalkedValue::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(WalkedValue::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(WalkedValue::Other)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(WalkedValue::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(WalkedValue::Other)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(WalkedValue::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        for index in 0_usize.. {
            let length = self.step(&index.to_string());
            let item = items.next_element_seed(&mut *self)?;
            if let Some(WalkedValue::Mark(body)) = item {
                self.record(body);
            }
            self.path.truncate(length);
            if item.is_none() {
                break;
            }
        }
        Ok(WalkedValue::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut next: Option<Name<'de>> = members.next_key()?;
        if next.as_ref().is_some_and(|Name(name)| name == self.name) {
            let body = members.next_value()?;
            next = members.next_key()?;
            if next.is_none() {
                return Ok(WalkedValue::Mark(body));
            }
        }
        let (mut marks, mut siblings) = (Vec::new(), Vec::new());
        while let Some(Name(name)) = next {
            let length = self.step(&name);
            match members.next_value_seed(&mut *self)? {
                WalkedValue::Mark(body) => marks.extend(self.record(body)),
                WalkedValue::Text(text) => siblings.push((name, text)),
                WalkedValue::Other => {}
            }
            self.path.truncate(length);
            next = members.next_key()?;
        }
        if !marks.is_empty() {
            let siblings = Arc::from(siblings);
            for mark in marks {
                if let Some(object) = self.found.get_mut(mark) {
                    object.siblings = Arc::clone(&siblings);
                }
            }
        }
        Ok(WalkedValue::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str) -> Vec<(String, String, Option<String>)> {
        let found = find_marked(json, SEAL).unwrap().into_iter();
        let parts = found.map(|object| {
            assert_eq!(
                &json[object.span.clone()],
                format!("{{\"$sealed\":{}}}", object.body)
            );
            let sibling = object.sibling("id").map(str::to_owned);
            (object.path, object.body.get().to_owned(), sibling)
        });
        parts.collect()
    }

    #[test]
    fn objects_are_found_at_any_depth_with_their_path_and_their_siblings() {
        let json =
            r#"{"a":{"$sealed":1},"b":[{"x/y":{"$sealed":[2]},"id":"7"},3],"c":"{\"$sealed\":4}"}"#;
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
