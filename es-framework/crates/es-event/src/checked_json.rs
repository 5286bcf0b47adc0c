//! JSON that every client can read back: complete, within limits, and without two members of one name.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::json_pointer::push_member;

/// Any JSON value, parsed completely and discarded except for what is told here.
///
/// The server of the event store stores an event's data as unparsed text. Without this check it would store lone
/// surrogates, numbers out of range and unlimited nesting, which break every reader. Data has the same
/// depth in a request and in a line of a stream, so text that passes the parser's depth limit here
/// passes it there, too.
#[derive(Debug, Default)]
pub struct CheckedJson {
    /// The number of elements of a list.
    elements: usize,
    /// The length of the longest list that is a member of an object.
    pub longest_list: usize,
    /// A member that an object has twice, at any depth. A schema checks only the last one, clients disagree which
    /// one counts, and a map keeps one of them silently.
    pub repeated_member: Option<RepeatedMember>,
}

/// A member that an object has twice.
#[derive(Debug)]
pub struct RepeatedMember {
    /// The name of the member.
    pub name: String,
    /// The JSON pointer of the member.
    pub pointer: String,
}

/// Fails if an object in this JSON has two members of one name, at any depth.
///
/// # Errors
/// The JSON is malformed, or an object has two members of one name.
pub fn check_members(json: &RawValue) -> Result<(), String> {
    let checked: CheckedJson =
        serde_json::from_str(json.get()).map_err(|error| error.to_string())?;
    match checked.repeated_member {
        None => Ok(()),
        Some(RepeatedMember { name, .. }) => Err(format!("an object has two members {name:?}")),
    }
}

impl CheckedJson {
    /// Takes over what a value in this one tells about its own members.
    fn include(&mut self, step: &str, inside: Option<RepeatedMember>) {
        if self.repeated_member.is_none() {
            self.repeated_member = inside.map(|inside| {
                let mut pointer = String::new();
                push_member(&mut pointer, step);
                pointer.push_str(&inside.pointer);
                RepeatedMember { pointer, ..inside }
            });
        }
    }
}

impl<'de> Deserialize<'de> for CheckedJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self::default())
    }
}

impl<'de> Visitor<'de> for CheckedJson {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Self, A::Error> {
        while let Some(item) = items.next_element::<Self>()? {
            if item.repeated_member.is_some() {
                self.include(&self.elements.to_string(), item.repeated_member);
            }
            self.elements = self.elements.saturating_add(1);
        }
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Self, A::Error> {
        let mut names = HashSet::new();
        while let Some((MemberName(name), member)) = members.next_entry::<_, Self>()? {
            self.longest_list = self.longest_list.max(member.elements);
            self.include(&name, member.repeated_member);
            if let Some(repeated) = names.replace(name) {
                let name = repeated.into_owned();
                let here = RepeatedMember {
                    name: name.clone(),
                    pointer: String::new(),
                };
                self.include(&name, Some(here));
            }
        }
        Ok(self)
    }
}

/// The name of a member, without its escapes.
struct MemberName<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for MemberName<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = MemberName<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(MemberName(Cow::Borrowed(name)))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(MemberName(Cow::Owned(name.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_valid(json: &str) -> bool {
        serde_json::from_str::<CheckedJson>(json).is_ok()
    }

    #[test]
    fn what_some_reader_would_choke_on_is_not_readable() {
        for readable in [
            "null",
            r#"{"a":[1,-1,1.5,true,"é\n\ud83d\ude00"],"b":{}}"#,
            &format!("{}{}", "[".repeat(100), "]".repeat(100)),
        ] {
            assert!(is_valid(readable), "{readable}");
        }
        for broken in [
            "",
            "{",
            "{} {}",
            r#"{"a":"\ud800"}"#,
            r#"{"\ud800":1}"#,
            r#"{"a":1e999}"#,
            &format!("{}{}", "[".repeat(200), "]".repeat(200)),
            &"[".repeat(1_000_000),
        ] {
            assert!(!is_valid(broken), "{}", broken.len());
        }
    }

    #[test]
    fn only_lists_that_are_members_of_the_request_have_a_length() {
        for (json, length) in [
            (r#"{"a":[],"b":[1,[2,3,4,5]],"c":{"d":[1,2,3]}}"#, 2),
            (r#"{"a":[1,2,3],"a":7}"#, 3),
            ("[1,2,3]", 0),
        ] {
            let checked: CheckedJson = serde_json::from_str(json).unwrap();
            assert_eq!(checked.longest_list, length, "{json}");
        }
    }

    #[test]
    fn a_repeated_member_is_found_at_any_depth_and_in_any_spelling() {
        for (json, repeated) in [
            (r#"{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}"#, None),
            (r#"{"a":1,"A":1,"é":1,"e\u0301":1}"#, None),
            (r#"{"a":1,"b":2,"a":1}"#, Some(("a", "/a"))),
            (r#"{"a":{"b/~":{"c":1,"c":2}}}"#, Some(("c", "/a/b~1~0/c"))),
            (r#"[[],[0,{"d":null,"d":null}]]"#, Some(("d", "/1/1/d"))),
            (r#"{"a":1,"\u0061":2}"#, Some(("a", "/a"))),
            (r#"{"\n":1,"\u000a":2}"#, Some(("\n", "/\n"))),
            (r#"{"":1,"":2}"#, Some(("", "/"))),
        ] {
            let checked: CheckedJson = serde_json::from_str(json).unwrap();
            let found = checked.repeated_member.as_ref();
            let found = found.map(|member| (&*member.name, &*member.pointer));
            assert_eq!(found, repeated, "{json}");
        }
    }
}
