//! Compares two schemas in the direction in which their values travel.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    DocumentReader,
    client_break::ClientBreak,
    integer_range,
    operation_change::OperationChange,
    schema_shape::{LOWER, SchemaShape, UPPER},
};

/// The deepest nesting of members that is compared.
const MAX_DEPTH: usize = 32;

/// The members of a problem that every response describes by itself.
const OF_PROBLEM: [&str; 3] = ["type", "title", "status"];

/// The direction in which the values of a schema travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the client: today's schema has to take what the committed one took.
    Request,
    /// To the client: today's schema has to stay within the committed one.
    Response,
}

/// The comparison of a committed schema with today's.
pub(super) struct SchemaComparison<'a> {
    direction: Direction,
    /// The words for the whole, such as `the request`.
    label: String,
    before: DocumentReader<'a>,
    after: DocumentReader<'a>,
    /// The pairs of named schemas that are compared already, because schemas can contain themselves.
    seen: BTreeSet<(&'a str, &'a str)>,
    /// The members on the way to the schemas that are compared now.
    path: Vec<String>,
    changes: Vec<OperationChange>,
}

impl<'a> SchemaComparison<'a> {
    pub(super) fn new(
        direction: Direction,
        label: &str,
        (before, after): (DocumentReader<'a>, DocumentReader<'a>),
    ) -> Self {
        Self {
            direction,
            label: label.to_owned(),
            before,
            after,
            seen: BTreeSet::new(),
            path: vec![],
            changes: vec![],
        }
    }

    pub(super) fn into_changes(self) -> Vec<OperationChange> {
        self.changes
    }

    /// Compares two schemas.
    pub(super) fn compare_schemas(&mut self, before: &'a Value, after: &'a Value) {
        let shapes = (
            SchemaShape::from_schema(self.before, before),
            SchemaShape::from_schema(self.after, after),
        );
        self.compare_shapes((before, &shapes.0), (after, &shapes.1));
    }

    /// Compares the schemas of problems without the members that every response describes by itself. The
    /// forms of a problem differ in these members only, so their members are compared as one form.
    pub(super) fn compare_problems(&mut self, before: &'a Value, after: &'a Value) {
        let read = |reader, schema| {
            let mut shape = SchemaShape::from_schema(reader, schema);
            shape.merge_alternatives(reader);
            for name in OF_PROBLEM {
                shape.members.remove(name);
            }
            shape
        };
        let shapes = (read(self.before, before), read(self.after, after));
        self.compare_shapes((before, &shapes.0), (after, &shapes.1));
    }

    fn compare(&mut self, before: &'a Value, after: &'a Value) {
        let name = |schema: &'a Value| schema.get("$ref").and_then(Value::as_str);
        if let (Some(old), Some(new)) = (name(before), name(after))
            && !self.seen.insert((old, new))
        {
            return;
        }
        if self.path.len() < MAX_DEPTH {
            self.compare_schemas(before, after);
        }
    }

    fn compare_shapes(
        &mut self,
        (old_schema, old): (&'a Value, &SchemaShape<'a>),
        (new_schema, new): (&'a Value, &SchemaShape<'a>),
    ) {
        if !old.alternatives.is_empty() || !new.alternatives.is_empty() {
            self.compare_alternatives((old_schema, old), (new_schema, new));
            return;
        }
        if !self.compare_types(old, new) {
            return;
        }
        self.compare_values(old, new);
        self.compare_bounds(old, new);
        self.compare_formats(old, new);
        self.compare_members(old, new);
        if let (Some(old), Some(new)) = (old.items, new.items) {
            self.compare_inside("[]", old, new);
        }
        if let (Some(old), Some(new)) = (old.other_members, new.other_members) {
            self.compare_inside("*", old, new);
        }
    }

    fn compare_inside(&mut self, name: &str, before: &'a Value, after: &'a Value) {
        self.path.push(name.to_owned());
        self.compare(before, after);
        self.path.pop();
    }

    /// Requires that each form of the narrower side fits one of the wider side.
    fn compare_alternatives(
        &mut self,
        (old_schema, old): (&'a Value, &SchemaShape<'a>),
        (new_schema, new): (&'a Value, &SchemaShape<'a>),
    ) {
        let forms = |schema: &'a Value, shape: &SchemaShape<'a>| {
            if shape.alternatives.is_empty() {
                vec![schema]
            } else {
                shape.alternatives.clone()
            }
        };
        let (old, new) = (forms(old_schema, old), forms(new_schema, new));
        let fits = |old: &&'a Value, new: &&'a Value| {
            let mut inner = Self::new(self.direction, "", (self.before, self.after));
            // A form that contains itself is compared once.
            inner.path.extend(self.path.iter().map(|_| String::new()));
            inner.path.push(String::new());
            inner.seen.clone_from(&self.seen);
            inner.compare(old, new);
            inner.changes.iter().all(|change| change.breaks.is_none())
        };
        let (all_fit, text) = match self.direction {
            Direction::Request => (
                old.iter().all(|old| new.iter().any(|new| fits(old, new))),
                "no longer takes each of its forms",
            ),
            Direction::Response => (
                new.iter().all(|new| old.iter().any(|old| fits(old, new))),
                "has a form that it did not have",
            ),
        };
        if !all_fit {
            self.add_breaking(text);
        }
    }

    /// Compares the types. Returns false if they differ so much that nothing else can be compared.
    fn compare_types(&mut self, old: &SchemaShape<'_>, new: &SchemaShape<'_>) -> bool {
        if old.types == new.types {
            return true;
        }
        let (narrow, wide) = match self.direction {
            Direction::Request => (&old.types, &new.types),
            Direction::Response => (&new.types, &old.types),
        };
        let is_within = match (narrow, wide) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(narrow), Some(wide)) => narrow
                .iter()
                .all(|one| wide.contains(one) || (*one == "integer" && wide.contains("number"))),
        };
        let name = |types: &Option<BTreeSet<&str>>| match types {
            Some(types) => types.iter().copied().collect::<Vec<_>>().join(" or "),
            None => "any value".to_owned(),
        };
        let text = format!(
            "has the type {}, and had the type {}",
            name(&new.types),
            name(&old.types)
        );
        if is_within {
            self.add_compatible(&text)
        } else {
            self.add_breaking(&text)
        }
        is_within
    }

    /// Compares the values of enums.
    fn compare_values(&mut self, old: &SchemaShape<'_>, new: &SchemaShape<'_>) {
        let (refuses, takes) = match self.direction {
            Direction::Request => ("no longer takes", "also takes"),
            Direction::Response => ("is never", "can be"),
        };
        let breaks_if_removed = self.direction == Direction::Request;
        match (&old.values, &new.values) {
            (Some(old), Some(new)) => {
                let list = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
                    one.difference(other)
                        .cloned()
                        .collect::<Vec<_>>()
                        .join(", ")
                };
                let (removed, added) = (list(old, new), list(new, old));
                if !removed.is_empty() {
                    self.add_if(breaks_if_removed, &format!("{refuses} {removed}"));
                }
                if !added.is_empty() {
                    self.add_if(!breaks_if_removed, &format!("{takes} {added}"));
                }
            }
            (None, Some(_)) => self.add_if(breaks_if_removed, "takes only listed values"),
            (Some(_), None) => self.add_if(!breaks_if_removed, "is no longer one of listed values"),
            (None, None) => {}
        }
    }

    /// Compares bounds, which only requests enforce.
    fn compare_bounds(&mut self, old: &SchemaShape<'_>, new: &SchemaShape<'_>) {
        if self.direction == Direction::Response {
            return;
        }
        for (bounds, is_upper) in [(LOWER, false), (UPPER, true)] {
            for bound in bounds {
                let (before, after) = (old.bounds.get(bound), new.bounds.get(bound));
                if before == after {
                    continue;
                }
                let is_tighter = match (before, after) {
                    (_, None) => false,
                    (None, Some(_)) => true,
                    (Some(before), Some(after)) => (after < before) == is_upper,
                };
                let name = |value: Option<&f64>| value.map_or("none".to_owned(), f64::to_string);
                let text = format!("has {bound} {}, and had {}", name(after), name(before));
                self.add_if(is_tighter, &text);
            }
        }
    }

    fn compare_formats(&mut self, old: &SchemaShape<'_>, new: &SchemaShape<'_>) {
        let name = |text: Option<&str>| text.unwrap_or("none").to_owned();
        if old.pattern != new.pattern && self.direction == Direction::Request {
            let (after, before) = (name(new.pattern), name(old.pattern));
            let text = format!("has the pattern {after}, and had {before}");
            self.add_if(new.pattern.is_some(), &text);
        }
        // In requests, only the formats of texts are compared, because the bounds of numbers are compared already.
        let is_text = |shape: &SchemaShape<'_>| {
            shape
                .types
                .as_ref()
                .is_none_or(|types| types.contains("string"))
        };
        let is_compared = match self.direction {
            Direction::Request => is_text(new),
            Direction::Response => true,
        };
        if old.format != new.format && is_compared {
            let (after, before) = (name(new.format), name(old.format));
            let text = format!("has the format {after}, and had {before}");
            let is_breaking = match self.direction {
                Direction::Request => new.format.is_some(),
                Direction::Response => old.format.is_some() && !integer_range::is_within(new, old),
            };
            self.add_if(is_breaking, &text);
        }
    }

    fn compare_members(&mut self, old: &SchemaShape<'a>, new: &SchemaShape<'a>) {
        for (name, before) in &old.members {
            let Some(after) = new.members.get(name) else {
                self.add_removed(name, new.is_closed);
                continue;
            };
            self.compare_inside(name, before, after);
            self.compare_required(
                name,
                old.required.contains(name),
                new.required.contains(name),
            );
        }
        for name in new
            .members
            .keys()
            .filter(|name| !old.members.contains_key(*name))
        {
            let member = self.member(name);
            let whole = self.label.clone();
            match (self.direction, new.required.contains(name)) {
                (Direction::Request, true) => self.push(
                    format!("{whole} requires the new member {member}"),
                    ClientBreak::MemberRequired,
                ),
                (Direction::Request, false) | (Direction::Response, _) => {
                    self.push(format!("{whole} has the new member {member}"), None);
                }
            }
        }
        if new.is_closed && !old.is_closed && self.direction == Direction::Request {
            self.add_breaking("no longer takes other members");
        }
    }

    fn add_removed(&mut self, name: &str, is_closed: bool) {
        let (member, whole) = (self.member(name), self.label.clone());
        match self.direction {
            Direction::Request => {
                let breaks = is_closed.then_some(ClientBreak::MemberRefused);
                self.push(
                    format!("{whole} no longer takes the member {member}"),
                    breaks,
                );
            }
            Direction::Response => self.push(
                format!("{whole} no longer has the member {member}"),
                ClientBreak::MemberRemoved,
            ),
        }
    }

    fn compare_required(&mut self, name: &str, was_required: bool, is_required: bool) {
        let (member, whole) = (self.member(name), self.label.clone());
        let breaks = match self.direction {
            Direction::Request => ClientBreak::MemberRequired,
            Direction::Response => ClientBreak::MemberOptional,
        };
        let (text, breaks) = match (was_required, is_required) {
            (false, true) => (
                format!("the member {member} of {whole} is required"),
                (self.direction == Direction::Request).then_some(breaks),
            ),
            (true, false) => (
                format!("the member {member} of {whole} may be absent"),
                (self.direction == Direction::Response).then_some(breaks),
            ),
            (true, true) | (false, false) => return,
        };
        self.push(text, breaks);
    }

    /// Returns the name of a member of the schemas that are compared now: `items[].title`.
    fn member(&self, name: &str) -> String {
        let mut text = String::new();
        let names = self.path.iter().map(String::as_str).chain([name]);
        for part in names.filter(|part| !part.is_empty()) {
            if !text.is_empty() && part != "[]" {
                text.push('.');
            }
            text.push_str(part);
        }
        text
    }

    fn push(&mut self, text: String, breaks: impl Into<Option<ClientBreak>>) {
        let breaks = breaks.into();
        self.changes.push(OperationChange { text, breaks });
    }

    fn add_if(&mut self, is_breaking: bool, text: &str) {
        if is_breaking {
            self.add_breaking(text)
        } else {
            self.add_compatible(text)
        }
    }

    fn add_breaking(&mut self, text: &str) {
        let breaks = match self.direction {
            Direction::Request => ClientBreak::ValueRefused,
            Direction::Response => ClientBreak::ValueAdded,
        };
        self.push(format!("{} {text}", self.place()), breaks);
    }

    fn add_compatible(&mut self, text: &str) {
        self.push(format!("{} {text}", self.place()), None);
    }

    /// Returns the words for the schemas that are compared now.
    fn place(&self) -> String {
        match self.member("") {
            member if member.is_empty() => self.label.clone(),
            member => format!("the member {member} of {}", self.label),
        }
    }
}
