//! The members of a JSON object as they were written.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The members of a JSON object in their order. Unlike a map, it keeps a member that stands there twice, and each
/// digit of a number.
#[derive(Debug, Default)]
pub(super) struct JsonMembers(Vec<(String, Box<RawValue>)>);

/// Removes the members with this name from a JSON object. Returns the rest of the object and their values, or `None` if it
/// has no such member.
#[doc(hidden)]
#[must_use]
pub fn split_member(json: &[u8], name: &str) -> Option<(Vec<u8>, Vec<Box<RawValue>>)> {
    // Most objects have no such member, and need no second parse.
    let is_there = json.windows(name.len()).any(|part| part == name.as_bytes());
    let mut members: JsonMembers = is_there
        .then(|| serde_json::from_slice(json).ok())
        .flatten()?;
    let removed = members.remove_all(name);
    let rest = serde_json::to_vec(&members).ok()?;
    (!removed.is_empty()).then_some((rest, removed))
}

impl JsonMembers {
    /// Removes the members with this name.
    pub(super) fn remove_all(&mut self, name: &str) -> Vec<Box<RawValue>> {
        let removed = self.0.extract_if(.., |(other, _)| other == name);
        removed.map(|(_, json)| json).collect()
    }

    /// Puts a member before all others.
    pub(super) fn push_front(&mut self, name: &str, json: Box<RawValue>) {
        self.0.insert(0, (name.to_owned(), json));
    }

    /// Appends a member.
    pub(super) fn push(&mut self, name: &str, json: Box<RawValue>) {
        self.0.push((name.to_owned(), json));
    }
}

impl Serialize for JsonMembers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, json)| (name, json)))
    }
}

impl<'de> Deserialize<'de> for JsonMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = JsonMembers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonMembers, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(JsonMembers(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_split_off_each_time_it_is_there() {
        let split = |json: &str| {
            let (rest, values) = split_member(json.as_bytes(), "$at")?;
            let values: Vec<_> = values.iter().map(|value| value.get().to_owned()).collect();
            Some((String::from_utf8(rest).unwrap(), values))
        };
        let expected = (
            r#"{"b":1.50}"#.to_owned(),
            vec!["1".to_owned(), "\"x\"".to_owned()],
        );
        assert_eq!(split(r#"{"$at":1, "b":1.50, "$at":"x"}"#), Some(expected));
        for other in [
            r#"{"b":"$at"}"#,
            r#"{"b":{"$at":1}}"#,
            r#""$at""#,
            r#"{"$at""#,
        ] {
            assert_eq!(split(other), None, "{other}");
        }
    }
}
