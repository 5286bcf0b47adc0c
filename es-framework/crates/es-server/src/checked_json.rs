//! JSON that every client can read back: complete, within limits, and without two members of one name.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// Any JSON value, parsed completely and discarded except for what is told here.
///
/// The server stores an event's data as unparsed text. Without this check it would store lone
/// surrogates, numbers out of range and unlimited nesting, which break every reader. Data has the same
/// depth in a request and in a line of a stream, so text that passes the parser's depth limit here
/// passes it there, too.
#[derive(Debug, Default)]
pub(super) struct CheckedJson {
    /// The number of elements of a list.
    elements: usize,
    /// The length of the longest list that is a member of an object.
    pub(super) longest_list: usize,
    /// The name of a member that an object has twice, at any depth. A schema checks only the last one, and
    /// clients disagree which one counts.
    pub(super) repeated_member: Option<Box<str>>,
}

/// Fails if an object in this JSON has two members of one name, at any depth.
pub(super) fn check_members(json: &RawValue) -> Result<(), String> {
    let checked: CheckedJson =
        serde_json::from_str(json.get()).map_err(|error| error.to_string())?;
    match checked.repeated_member {
        None => Ok(()),
        Some(name) => Err(format!("an object has two members {name:?}")),
    }
}

impl CheckedJson {
    /// Takes over what a value in this one tells about its own members.
    fn include(&mut self, repeated_member: Option<Box<str>>) {
        if self.repeated_member.is_none() {
            self.repeated_member = repeated_member;
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
            self.elements = self.elements.saturating_add(1);
            self.include(item.repeated_member);
        }
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Self, A::Error> {
        let mut names = HashSet::new();
        while let Some((MemberName(name), member)) = members.next_entry::<_, Self>()? {
            self.longest_list = self.longest_list.max(member.elements);
            self.include(member.repeated_member);
            if let Some(repeated) = names.replace(name) {
                self.include(Some(repeated.into()));
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
            (r#"{"a":1,"b":2,"a":1}"#, Some("a")),
            (r#"{"a":{"b":{"c":1,"c":2}}}"#, Some("c")),
            (r#"[[],[{"d":null,"d":null}]]"#, Some("d")),
            (r#"{"a":1,"\u0061":2}"#, Some("a")),
            (r#"{"\n":1,"\u000a":2}"#, Some("\n")),
            (r#"{"":1,"":2}"#, Some("")),
        ] {
            let checked: CheckedJson = serde_json::from_str(json).unwrap();
            assert_eq!(checked.repeated_member.as_deref(), repeated, "{json}");
        }
    }
}
