//! Finds members of a request that no type declares. Serde ignores them, so that an older release reads the events of
//! a newer one. In a request they are mistakes, and would be lost silently.

use std::{cell::OnceCell, collections::BTreeMap, mem};

use es_event::{json_numbers::replace_numbers, json_pointer::push_member};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::Violations;

/// The part of a pointer that stands for each item of a list and each member of an object. A client cannot send a
/// member of this name.
const EACH: &str = "\0";

/// The first character of the text that stands for an integer which a `Value` cannot hold. No other text of a request
/// contains it.
const LARGE_INTEGER: char = '\0';

/// The JSON of the request that is validated.
#[derive(Debug)]
struct RequestJson {
    body: String,
    /// Only commands with values inside need it.
    parsed: OnceCell<Value>,
}

/// The state of the search for undeclared members.
#[derive(Debug, Default)]
pub(super) struct MemberSearch {
    request: Option<RequestJson>,
    /// The members of the current object.
    object: DeclaredMembers,
    /// The number of sets around the current value.
    num_sets: usize,
    /// The members of the objects inside a set. The set does not know which item of the request is which, so that each
    /// may have the members of all.
    in_set: BTreeMap<String, DeclaredMembers>,
}

/// The members of one JSON object. Several types declare them if one is flattened into the other.
#[derive(Debug, Default)]
struct DeclaredMembers {
    lists: Vec<&'static [&'static str]>,
    /// True if the object may have any other member.
    is_open: bool,
}

impl DeclaredMembers {
    fn contains(&self, name: &str) -> bool {
        self.is_open || self.names().any(|declared| declared == name)
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.lists.iter().copied().flatten().copied()
    }

    fn merge(&mut self, other: Self) {
        for list in other.lists {
            if !self.lists.contains(&list) {
                self.lists.push(list);
            }
        }
        self.is_open |= other.is_open;
    }

    fn message(&self) -> String {
        let names: Vec<_> = self.names().map(|name| format!("`{name}`")).collect();
        match names.as_slice() {
            [] => "unknown member: no member is expected here".to_owned(),
            [name] => format!("unknown member: expected {name}"),
            names => format!("unknown member: expected one of {}", names.join(", ")),
        }
    }
}

impl Violations {
    /// Creates an empty list for the violations of a request with this body.
    pub(crate) fn of_request(body: &[u8]) -> Self {
        let body = std::str::from_utf8(body).ok();
        let body = body.filter(|body| !body.trim_ascii().is_empty());
        let request = body.map(|body| RequestJson {
            body: body.to_owned(),
            parsed: OnceCell::new(),
        });
        Self {
            search: MemberSearch {
                request,
                ..MemberSearch::default()
            },
            ..Self::default()
        }
    }

    /// Declares the members of the current JSON object. A request that has another one is refused. `#[derive(Value)]`
    /// writes the call. A type with its own implementation of [`Validate`](super::Validate) may write it too, and has to if
    /// another value flattens it.
    ///
    /// ```
    /// use es_framework::validate::{Validate, Violations};
    ///
    /// struct Address {
    ///     town: String,
    /// }
    ///
    /// impl Validate for Address {
    ///     fn validate(&self, violations: &mut Violations) {
    ///         violations.declare_members(&["town"]);
    ///     }
    /// }
    ///
    /// let mut violations = Violations::default();
    /// Address { town: "Bree".into() }.validate(&mut violations);
    /// assert!(violations.into_vec().is_empty());
    /// ```
    pub fn declare_members(&mut self, names: &'static [&'static str]) {
        if self.search.request.is_some() {
            self.search.object.lists.push(names);
        }
    }

    /// Allows any member in the current JSON object.
    #[doc(hidden)]
    pub fn declare_every_member(&mut self) {
        self.search.object.is_open = true;
    }

    /// Collects violations of a value whose JSON a function of the application reads. That function alone knows the
    /// members.
    #[doc(hidden)]
    pub fn check_converted(&mut self, check: impl FnOnce(&mut Self)) {
        let request = self.search.request.take();
        check(self);
        self.search.request = request;
    }

    /// Collects violations inside the member that has one of these names in the request.
    #[doc(hidden)]
    pub fn check_member_with_aliases(&mut self, names: &[&str], check: impl FnOnce(&mut Self)) {
        let object = self.search.value_at(&self.pointer);
        let is_sent = |name: &&&str| object.is_some_and(|object| object.get(**name).is_some());
        let sent = names.iter().find(is_sent).or(names.first());
        self.check_member(sent.copied().unwrap_or_default(), check);
    }

    /// Checks a value that is one step below the current one.
    pub(super) fn check_below(&mut self, name: &str, check: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        push_member(&mut self.pointer, name);
        let around = mem::take(&mut self.search.object);
        check(self);
        let declared = mem::replace(&mut self.search.object, around);
        if !declared.lists.is_empty() {
            self.refuse_undeclared(declared);
        }
        self.pointer.truncate(length);
    }

    /// Checks an item of a list or an entry of a map.
    pub(super) fn check_item(&mut self, name: &str, check: impl FnOnce(&mut Self)) {
        let is_in_set = self.search.num_sets > 0;
        self.check_below(if is_in_set { EACH } else { name }, check);
    }

    /// Checks the value of a map's entry. Violations of its rules have the name of the entry.
    pub(super) fn check_entry(&mut self, name: &str, check: impl FnOnce(&mut Self)) {
        let known = self.violations.len();
        self.check_item(name, check);
        let each = format!("{}/{EACH}", self.pointer);
        let mut named = self.pointer.clone();
        push_member(&mut named, name);
        for violation in self.violations.iter_mut().skip(known) {
            if let Some(inside) = violation.pointer.strip_prefix(&each) {
                violation.pointer = format!("{named}{inside}");
            }
        }
    }

    /// Returns how the request spells the keys of the current map: a UUID may be in capital letters. Refuses two
    /// spellings of one key, because the map has kept the value of one of them only.
    pub(super) fn find_spellings<K: Serialize + DeserializeOwned>(
        &mut self,
    ) -> BTreeMap<String, String> {
        let mut spellings = BTreeMap::new();
        let mut repeated = Vec::new();
        let object = self.search.value_at(&self.pointer);
        for sent in object
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys)
        {
            // Numbers and truths are no texts, and have one spelling.
            let key = serde_json::from_value::<K>(Value::String(sent.clone())).ok();
            if let Some(name) = key.and_then(|key| name_of_key(&key))
                && let Some(other) = spellings.insert(name, sent.clone())
            {
                repeated.push((sent.clone(), other));
            }
        }
        for (name, other) in repeated {
            let message = format!("is the same key as `{other}`: leave one of them out");
            self.check(&name, Err(message));
        }
        spellings
    }

    /// Checks all items of a set.
    pub(super) fn check_set(&mut self, check: impl FnOnce(&mut Self)) {
        self.search.num_sets = self.search.num_sets.saturating_add(1);
        check(self);
        self.search.num_sets = self.search.num_sets.saturating_sub(1);
        if self.search.num_sets == 0 {
            for (pointer, declared) in mem::take(&mut self.search.in_set) {
                self.refuse_at(&pointer, &declared);
            }
        }
    }

    fn refuse_undeclared(&mut self, declared: DeclaredMembers) {
        if self.search.num_sets > 0 {
            let known = self.search.in_set.entry(self.pointer.clone());
            known.or_default().merge(declared);
        } else {
            self.refuse_at(&self.pointer.clone(), &declared);
        }
    }

    /// Adds a violation for each member that is not declared, in the objects at this pointer.
    fn refuse_at(&mut self, pointer: &str, declared: &DeclaredMembers) {
        let mut undeclared = Vec::new();
        if let Some(request) = &self.search.request {
            let names = pointer.split('/').skip(1);
            visit(
                request.value(),
                names,
                &mut String::new(),
                &mut |value, pointer| {
                    let members = value
                        .as_object()
                        .into_iter()
                        .flat_map(|members| members.keys());
                    for name in members.filter(|name| !declared.contains(name)) {
                        let mut pointer = pointer.to_owned();
                        push_member(&mut pointer, name);
                        undeclared.push(pointer);
                    }
                },
            );
        }
        for pointer in undeclared {
            self.add_at(pointer, declared.message());
        }
    }

    /// Refuses integers that a `Value` rounds.
    pub(super) fn check_integers(&mut self) {
        let mut large = Vec::new();
        if let Some(value) = self.search.value_at(&self.pointer) {
            find_large_integers(value, &mut self.pointer.clone(), &mut large);
        }
        for (pointer, digits) in large {
            let message =
                format!("{digits} has more than 64 bits and would be rounded: send it as a text");
            self.add_at(pointer, message);
        }
    }
}

impl MemberSearch {
    fn value_at(&self, pointer: &str) -> Option<&Value> {
        self.request.as_ref()?.value().pointer(pointer)
    }
}

impl RequestJson {
    /// Returns the body, with a text in place of each integer that a `Value` rounds.
    fn value(&self) -> &Value {
        self.parsed.get_or_init(|| {
            let json = replace_numbers(&self.body, |number| {
                let is_small = number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
                if !number.contains(['.', 'e', 'E']) {
                    return (!is_small).then(|| format!("\"\\u0000{number}\""));
                }
                // Only raw JSON holds a number beyond all floats.
                let is_infinite = number.parse().is_ok_and(f64::is_infinite);
                is_infinite.then(|| "0".to_owned())
            });
            serde_json::from_str(&json).unwrap_or_default()
        })
    }
}

/// Returns the name of a map's entry in JSON.
pub(super) fn name_of_key<K: Serialize>(key: &K) -> Option<String> {
    match serde_json::to_value(key) {
        Ok(Value::String(name)) => Some(name),
        Ok(other) => Some(other.to_string()),
        Err(_) => None,
    }
}

/// Calls the function with each value at the pointer, whose names are still escaped.
fn visit<'a>(
    value: &Value,
    mut names: impl Iterator<Item = &'a str> + Clone,
    pointer: &mut String,
    found: &mut dyn FnMut(&Value, &str),
) {
    let Some(name) = names.next() else {
        found(value, pointer);
        return;
    };
    let length = pointer.len();
    let mut inside = |name: &str, value: &Value| {
        push_member(pointer, name);
        visit(value, names.clone(), pointer, found);
        pointer.truncate(length);
    };
    match value {
        Value::Array(items) if name == EACH => {
            for (index, item) in items.iter().enumerate() {
                inside(&index.to_string(), item);
            }
        }
        Value::Object(members) if name == EACH => {
            members
                .iter()
                .for_each(|(name, member)| inside(name, member));
        }
        value => {
            if let Some(member) = value.pointer(&format!("/{name}")) {
                inside(&name.replace("~1", "/").replace("~0", "~"), member);
            }
        }
    }
}

fn find_large_integers(value: &Value, pointer: &mut String, found: &mut Vec<(String, String)>) {
    let length = pointer.len();
    match value {
        Value::String(text) => {
            if let Some(digits) = text.strip_prefix(LARGE_INTEGER) {
                found.push((pointer.clone(), digits.to_owned()));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                push_member(pointer, &index.to_string());
                find_large_integers(item, pointer, found);
                pointer.truncate(length);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                push_member(pointer, name);
                find_large_integers(member, pointer, found);
                pointer.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
