//! The text about one declaration of an application's model. The page `docs/src/how-to/model.md` describes
//! the model.

use serde_json::Value;

/// The members of a node, with their labels.
const MEMBERS: [(&str, &str); 2] = [("route", "route"), ("subject", "subject")];

/// The connections of a node: the kind of an edge, the label at the node where it begins, and the label at
/// the node where it ends.
const CONNECTIONS: [(&str, &str, &str); 10] = [
    ("decides", "decides", "decides on"),
    ("records", "records", "recorded by"),
    ("evolves", "changes", "follows from"),
    ("projects", "changes", "follows from"),
    ("answers", "answers", "reads"),
    ("starts", "starts", "started by"),
    ("cancels", "cancels", "cancelled by"),
    ("sends", "sends", "sent by"),
    ("upcasts", "read as", "read from"),
    ("publishes", "published as", "publishes"),
];

const LABEL_WIDTH: usize = 14;

/// Returns the text about a node of a model.
pub(crate) fn describe_node(node: &Value, model: &Value) -> String {
    let (noun, name_label) = kind_of(node);
    let mut text = format!("{noun} at {}:{}\n", member(node, "file"), node_line(node));
    let summary = member(node, "summary");
    if !summary.is_empty() {
        text.push_str(&format!("  {summary}\n"));
    }
    push_line(&mut text, name_label, member(node, "name"));
    for (name, label) in MEMBERS {
        push_line(&mut text, label, member(node, name));
    }
    let roles: Vec<_> = array(node, "roles").filter_map(Value::as_str).collect();
    push_line(&mut text, "role", &roles.join(" or "));
    for rule in array(node, "rules") {
        push_line(&mut text, "rule", member(rule, "sentence"));
    }
    let id = member(node, "id");
    for (kind, from_label, to_label) in CONNECTIONS {
        for (own, other, label) in [("from", "to", from_label), ("to", "from", to_label)] {
            let names = connected(model, kind, (own, id), other);
            push_line(&mut text, label, &names.join(", "));
        }
    }
    for finding in array(model, "findings").filter(|one| member(one, "node") == id) {
        push_line(&mut text, "finding", member(finding, "message"));
    }
    if let Some(schema) = node.get("schema").filter(|schema| !schema.is_null()) {
        let schema = serde_json::to_string_pretty(schema).unwrap_or_default();
        push_line(&mut text, "schema", &schema.replace('\n', "\n  "));
    }
    text
}

/// Returns the name of the kind, and the label of the name that the framework derived.
fn kind_of(node: &Value) -> (&'static str, &'static str) {
    match member(node, "kind") {
        "command" => ("Command", "name"),
        "event" => ("Event", "event type"),
        "state" => ("State", "name"),
        "readModel" => ("Read model", "table"),
        "query" => ("Query", "name"),
        "reaction" => ("Reaction", "name"),
        "publicEvent" => ("Public event", "event type"),
        _ => ("Declaration", "name"),
    }
}

/// Returns the names of the nodes that edges of a kind connect with a node.
fn connected<'a>(
    model: &'a Value,
    kind: &str,
    (own, id): (&str, &str),
    other: &str,
) -> Vec<&'a str> {
    let edges = array(model, "edges")
        .filter(|edge| member(edge, "kind") == kind && member(edge, own) == id);
    let name_of = |edge| {
        // An id is the kind and the name.
        let id: &str = member(edge, other);
        id.split_once(':').map_or(id, |(_, name)| name)
    };
    edges.map(name_of).collect()
}

fn array<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let elements = value.get(name).and_then(Value::as_array);
    elements.into_iter().flatten()
}

fn member<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn node_line(node: &Value) -> u64 {
    node.get("line").and_then(Value::as_u64).unwrap_or_default()
}

fn push_line(text: &mut String, label: &str, value: &str) {
    if !value.is_empty() {
        text.push_str(&format!("  {label:LABEL_WIDTH$}{value}\n"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_shows_its_members_and_connections() {
        let table = json!({
            "id": "read-model:loans", "kind": "readModel", "name": "loans", "subject": "/books/{id}",
            "summary": "A loan.", "route": null, "roles": ["reader", "staff"], "file": "src/loan.rs", "line": 10,
            "rules": [{ "label": "reader for staff", "sentence": "Only staff see `reader`." }],
            "schema": { "type": "object" },
        });
        let model = json!({ "nodes": [table], "edges": [
            { "from": "event:com.example.BookBorrowedEvent", "to": "read-model:loans", "kind": "projects" },
            { "from": "read-model:loans", "to": "query:BrowseLoans", "kind": "answers" },
            { "from": "read-model:loans", "to": "query:FindLoan", "kind": "answers" },
        ], "findings": [
            { "node": "read-model:loans", "message": "nobody reads it" },
            { "node": "read-model:readers", "message": "it is empty" },
        ]});
        let expected = [
            "Read model at src/loan.rs:10",
            "  A loan.",
            "  table         loans",
            "  subject       /books/{id}",
            "  role          reader or staff",
            "  rule          Only staff see `reader`.",
            "  follows from  com.example.BookBorrowedEvent",
            "  answers       BrowseLoans, FindLoan",
            "  finding       nobody reads it",
            "  schema        {",
            "    \"type\": \"object\"",
            "  }\n",
        ];
        assert_eq!(describe_node(&table, &model), expected.join("\n"));
    }
}
