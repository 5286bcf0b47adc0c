//! Compares the name, the access, the parameters, the request and the responses of one operation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    DocumentReader, access_comparison,
    client_break::ClientBreak,
    operation_change::OperationChange,
    schema_comparison::{Direction, SchemaComparison},
    schema_shape::SchemaShape,
};

const PROBLEM: &str = "application/problem+json";

/// Compares an operation of the committed document with the same operation of today's.
pub(super) fn compare_operations(
    readers: (DocumentReader<'_>, DocumentReader<'_>),
    before: &Value,
    after: &Value,
) -> Vec<OperationChange> {
    let mut comparison = OperationComparison {
        before: readers.0,
        after: readers.1,
        changes: vec![],
    };
    comparison.names(before, after);
    comparison
        .changes
        .extend(access_comparison::compare_access(before, after));
    comparison.parameters(before, after);
    comparison.request(before, after);
    comparison.responses(before, after);
    comparison.changes
}

struct OperationComparison<'a> {
    before: DocumentReader<'a>,
    after: DocumentReader<'a>,
    changes: Vec<OperationChange>,
}

impl<'a> OperationComparison<'a> {
    fn add(&mut self, text: String, breaks: impl Into<Option<ClientBreak>>) {
        let breaks = breaks.into();
        self.changes.push(OperationChange { text, breaks });
    }

    fn names(&mut self, before: &Value, after: &Value) {
        let id = |operation: &Value| operation.get("operationId").cloned();
        if let (Some(old), Some(new)) = (id(before), id(after))
            && old != new
        {
            let text = format!("its operationId is {new}, and was {old}");
            self.add(text, ClientBreak::OperationRenamed);
        }
    }

    fn parameters(&mut self, before: &'a Value, after: &'a Value) {
        let (before, after) = (
            parameters(self.before, before),
            parameters(self.after, after),
        );
        for (key, old) in &before {
            let label = format!("the {} parameter {}", key.0, key.1);
            match after.get(key) {
                Some(new) => {
                    if is_required(new) && !is_required(old) {
                        self.add(
                            format!("{label} is required"),
                            ClientBreak::ParameterRequired,
                        );
                    }
                    let compare = SchemaComparison::compare_schemas;
                    self.schemas(Direction::Request, &label, (old, new), compare);
                }
                // A path has its parameters, whatever their names are.
                None if key.0 == "path" => {}
                None => self.add(format!("{label} is gone"), ClientBreak::ParameterRefused),
            }
        }
        for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
            let label = format!("the {} parameter {}", key.0, key.1);
            match (key.0, is_required(new)) {
                ("path", _) => {}
                (_, true) => self.add(
                    format!("{label} is new and required"),
                    ClientBreak::ParameterRequired,
                ),
                (_, false) => self.add(format!("{label} is new"), None),
            }
        }
    }

    fn request(&mut self, before: &'a Value, after: &'a Value) {
        let body = |reader: DocumentReader<'a>, operation: &'a Value| {
            let body = operation.get("requestBody")?;
            Some(reader.resolve(body))
        };
        let (old, new) = (body(self.before, before), body(self.after, after));
        match (old, new) {
            (Some(old), Some(new)) => {
                self.contents(Direction::Request, "the request", old, new);
            }
            (Some(_), None) => self.add(
                "the request no longer has a body".to_owned(),
                ClientBreak::MemberRefused,
            ),
            (None, Some(new)) if is_required(new) => self.add(
                "the request requires a body".to_owned(),
                ClientBreak::MemberRequired,
            ),
            (None, _) => {}
        }
    }

    fn responses(&mut self, before: &'a Value, after: &'a Value) {
        let (before, after) = (object(before, "responses"), object(after, "responses"));
        for (status, old) in before.into_iter().flatten() {
            let Some(new) = after.and_then(|after| after.get(status)) else {
                let text = format!("the status {status} is gone");
                self.add(text, ClientBreak::StatusRemoved);
                continue;
            };
            let (old, new) = (self.before.resolve(old), self.after.resolve(new));
            let label = format!("the response {status}");
            self.contents(Direction::Response, &label, old, new);
            let headers = object(old, "headers").into_iter().flatten();
            for (header, _) in headers {
                if object(new, "headers").is_none_or(|new| !new.contains_key(header)) {
                    let text = format!("{label} no longer has the header {header}");
                    self.add(text, ClientBreak::HeaderRemoved);
                }
            }
        }
        for (status, _) in after.into_iter().flatten() {
            if before.is_none_or(|before| !before.contains_key(status)) {
                let breaks = status.starts_with('2').then_some(ClientBreak::SuccessAdded);
                self.add(format!("the status {status} is new"), breaks);
            }
        }
    }

    /// Compares the schemas of each media type.
    fn contents(&mut self, direction: Direction, label: &str, before: &'a Value, after: &'a Value) {
        let (before, after) = (object(before, "content"), object(after, "content"));
        for (media_type, old) in before.into_iter().flatten() {
            match after.and_then(|after| after.get(media_type)) {
                None => {
                    let text = format!("{label} no longer has the format {media_type}");
                    self.add(text, ClientBreak::FormatRemoved);
                }
                Some(new) if media_type == PROBLEM => {
                    self.problems(label, old, new);
                    self.schemas(
                        direction,
                        label,
                        (old, new),
                        SchemaComparison::compare_problems,
                    );
                }
                Some(new) => {
                    self.schemas(
                        direction,
                        label,
                        (old, new),
                        SchemaComparison::compare_schemas,
                    );
                }
            }
        }
    }

    /// Compares the types of the problems that a response can have. A client has to expect problems
    /// that it does not know, so a new one is compatible.
    fn problems(&mut self, label: &str, before: &'a Value, after: &'a Value) {
        let (old, new) = (
            problem_types(self.before, before),
            problem_types(self.after, after),
        );
        for problem in old.difference(&new) {
            let text = format!("{label} no longer has the problem {problem}");
            self.add(text, ClientBreak::ProblemRemoved);
        }
        for problem in new.difference(&old) {
            self.add(format!("{label} has the new problem {problem}"), None);
        }
    }

    fn schemas(
        &mut self,
        direction: Direction,
        label: &str,
        (before, after): (&'a Value, &'a Value),
        compare: fn(&mut SchemaComparison<'a>, &'a Value, &'a Value),
    ) {
        if let (Some(before), Some(after)) = (before.get("schema"), after.get("schema")) {
            let mut comparison = SchemaComparison::new(direction, label, (self.before, self.after));
            compare(&mut comparison, before, after);
            self.changes.extend(comparison.into_changes());
        }
    }
}

fn object<'a>(value: &'a Value, key: &str) -> Option<&'a Map<String, Value>> {
    value.get(key).and_then(Value::as_object)
}

fn is_required(value: &Value) -> bool {
    value.get("required").and_then(Value::as_bool) == Some(true)
}

/// The parameters of an operation by place and name.
fn parameters<'a>(
    reader: DocumentReader<'a>,
    operation: &'a Value,
) -> BTreeMap<(&'a str, &'a str), &'a Value> {
    let list = operation.get("parameters").and_then(Value::as_array);
    let parameters = list.into_iter().flatten();
    let named = parameters.filter_map(|parameter| {
        let parameter = reader.resolve(parameter);
        let text = |key| parameter.get(key).and_then(Value::as_str);
        Some(((text("in")?, text("name")?), parameter))
    });
    named.collect()
}

/// The types of the problems that a response lists, in its schema or by its examples.
fn problem_types<'a>(reader: DocumentReader<'a>, content: &'a Value) -> BTreeSet<String> {
    let schema = content.get("schema").unwrap_or(&Value::Null);
    let problem = SchemaShape::from_schema(reader, schema);
    let member = problem.members.get("type");
    let types = member.and_then(|types| SchemaShape::from_schema(reader, types).values);
    let examples = object(content, "examples").into_iter().flatten();
    let of_examples = examples.filter_map(|(_, example)| example.pointer("/value/type"));
    types.unwrap_or_else(|| of_examples.map(Value::to_string).collect())
}
