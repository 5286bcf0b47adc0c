//! Replaces personal values for those who may not see them.

use serde::{
    Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::value::RawValue;

use super::{MARK, PersonalValue, find_marked, splice, to_marked_json};
use crate::json_numbers;

/// Returns the event with the replacement of each personal value that is in none of the members `shown`.
pub(crate) fn replace_values<T: Serialize + DeserializeOwned>(
    event: T,
    shown: &[&str],
) -> serde_json::Result<T> {
    let json = to_marked_json(&event)?;
    let marked = find_marked::<PersonalValue<IgnoredAny, &RawValue>>(&json, MARK)?;
    if marked.is_empty() {
        return Ok(event);
    }
    let mut parts = Vec::with_capacity(marked.len());
    for object in marked {
        let member = object.path.split('/').nth(1).unwrap_or_default();
        let PersonalValue { erased, value, .. } = object.body?;
        let kept = if shown.contains(&member) {
            value
        } else {
            erased
        };
        parts.push((object.span, kept.get().to_owned()));
    }
    json_numbers::read_json(&splice(&json, parts))
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serializer};

    use super::*;
    use crate::personal::serialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct JoinedEvent {
        id: u32,
        #[serde(serialize_with = "serialize_text")]
        name: String,
        contacts: Vec<Contact>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Contact {
        #[serde(serialize_with = "serialize_text")]
        phone: String,
        city: String,
    }

    #[allow(clippy::ptr_arg, reason = "serde passes the field as it is")]
    fn serialize_text<S: Serializer>(value: &String, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(value, "id", || "gone".to_owned(), serializer)
    }

    fn joined(name: &str, phone: &str) -> JoinedEvent {
        let contact = || Contact {
            phone: phone.to_owned(),
            city: "$personal".to_owned(),
        };
        JoinedEvent {
            id: 7,
            name: name.to_owned(),
            contacts: vec![contact(), contact()],
        }
    }

    #[test]
    fn only_shown_members_keep_their_personal_values() {
        let replaced = |shown: &[&str]| replace_values(joined("Ada", "1\"2"), shown).unwrap();
        assert_eq!(replaced(&[]), joined("gone", "gone"));
        assert_eq!(replaced(&["name"]), joined("Ada", "gone"));
        assert_eq!(replaced(&["contacts"]), joined("gone", "1\"2"));
        assert_eq!(replaced(&["contacts", "name"]), joined("Ada", "1\"2"));
        assert_eq!(replaced(&["phone", "0", ""]), joined("gone", "gone"));
    }
}
