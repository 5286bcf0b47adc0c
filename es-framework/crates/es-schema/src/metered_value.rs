//! A view of event data that spends a step of the check's budget for each value that a validator looks
//! at. The count is right for any order, cache or recursion of the validator.

use std::borrow::Cow;

use jsonschema::{
    JsonType,
    json::{Array, Json, Node, NodeIdentity, Object, SerdeJson, cmp, unique},
};
use serde_json::{Map, Number, Value, map};

use super::work_budget::{spend, spend_text};

/// Makes the validator look at event data as [`MeteredValue`]s. It holds no data itself.
pub(super) struct MeteredJson;

/// A value of event data.
#[derive(Clone)]
pub(super) struct MeteredValue<'a>(pub(super) &'a Value);

/// The members of an object.
pub(super) struct MeteredObject<'a>(&'a Map<String, Value>);

/// The elements of an array.
pub(super) struct MeteredArray<'a>(&'a [Value]);

impl Json for MeteredJson {
    type Node<'a> = MeteredValue<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(
        buffer: &mut Value,
        string: &str,
        check: impl FnOnce(MeteredValue<'_>) -> T,
    ) -> T {
        *buffer = Value::String(string.to_owned());
        check(MeteredValue(buffer))
    }
}

/// Spends the steps of reading a value and everything in it.
fn spend_all(value: &Value) {
    match value {
        Value::String(text) => spend_text(text),
        Value::Array(elements) => {
            spend(1);
            elements.iter().for_each(spend_all);
        }
        Value::Object(members) => {
            spend(1);
            for (name, value) in members {
                spend_text(name);
                spend_all(value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => spend(1),
    }
}

impl<'a> Node<'a, MeteredJson> for MeteredValue<'a> {
    type Object = MeteredObject<'a>;
    type Array = MeteredArray<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<MeteredObject<'a>> {
        spend(1);
        self.0.as_object().map(MeteredObject)
    }

    fn as_array(&self) -> Option<MeteredArray<'a>> {
        spend(1);
        self.0.as_array().map(|elements| MeteredArray(elements))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.0.as_str();
        spend_text(text.unwrap_or_default());
        text.map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        spend(1);
        self.0.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        spend(1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        spend(1);
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        spend(1);
        Node::<SerdeJson>::json_type(&self.0)
    }

    fn string_length(&self) -> Option<u64> {
        spend_text(self.0.as_str().unwrap_or_default());
        Node::<SerdeJson>::string_length(&self.0)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        spend_all(self.0);
        cmp::equal(self.0, expected)
    }

    /// Spends the steps of the whole value, because errors copy it.
    fn to_value(&self) -> Cow<'a, Value> {
        spend_all(self.0);
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Node::<SerdeJson>::identity(&self.0)
    }
}

impl<'a> Object<'a, MeteredJson> for MeteredObject<'a> {
    type Node = MeteredValue<'a>;
    type MemberName = &'a str;
    type MembersIter = MeteredMemberIter<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<MeteredValue<'a>> {
        spend(1);
        self.0.get(key).map(MeteredValue)
    }

    fn members(&self) -> MeteredMemberIter<'a> {
        MeteredMemberIter(self.0.iter())
    }
}

impl<'a> Array<'a, MeteredJson> for MeteredArray<'a> {
    type Node = MeteredValue<'a>;
    type ElementsIter = MeteredElementIter<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> MeteredElementIter<'a> {
        MeteredElementIter(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        self.0.iter().for_each(spend_all);
        unique::is_unique(self.0)
    }
}

/// An iterator over members. It spends the steps of each name.
pub(super) struct MeteredMemberIter<'a>(map::Iter<'a>);

impl<'a> Iterator for MeteredMemberIter<'a> {
    type Item = (&'a str, MeteredValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        spend_text(name);
        Some((name, MeteredValue(value)))
    }
}

/// An iterator over elements. It spends one step for each.
pub(super) struct MeteredElementIter<'a>(std::slice::Iter<'a, Value>);

impl<'a> Iterator for MeteredElementIter<'a> {
    type Item = MeteredValue<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let value = self.0.next()?;
        spend(1);
        Some(MeteredValue(value))
    }
}
