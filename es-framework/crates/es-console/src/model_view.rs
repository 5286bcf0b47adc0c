//! The model of the application as a picture, and the declaration that was selected in it.

use es_catalog::model::{ApplicationModel, ModelEdge, ModelNode, NodeKind};
use maud::{Markup, PreEscaped, html};

use crate::{
    json_view,
    layout::Section,
    notice::NoticePage,
    page_request::{PageRequest, PageResult},
    query_values,
};

/// The parameter with the id of the selected node.
const NODE: &str = "node";

/// Shows the picture, and the node in the query of the address.
pub(crate) async fn show_model_view(page: PageRequest) -> PageResult {
    let model = &page.console().model;
    let selected = match page.query.value_or_empty(NODE) {
        "" => None,
        id => Some(
            model
                .node(id)
                .ok_or_else(|| NoticePage::not_found("The model has no such declaration."))?,
        ),
    };
    // The picture escapes all texts itself.
    let picture = PreEscaped(model.to_inline_svg(&|node| Some(address(&node.id))));
    let content = html! {
        div.bar {
            h1 { "Model" }
            span.muted { "Select a box to see its declaration." }
        }
        @if !model.findings.is_empty() { (findings(model)) }
        div.model-picture tabindex="0" role="region" aria-label="The picture of the model" { (picture) }
        @if let Some(node) = selected { (declaration(model, node)) }
    };
    page.respond(Section::Model, "Model", &content)
}

/// Returns the address of the page with the node of this id selected.
pub(crate) fn address(node: &str) -> String {
    query_values::address("/console/model", &[(NODE, node)]) + "#declaration"
}

fn findings(model: &ApplicationModel) -> Markup {
    html! {
        section.card {
            h2 { "Findings" }
            ul {
                @for finding in &model.findings {
                    li.bad {
                        (finding.message) " "
                        @match model.node(&finding.node) {
                            Some(node) => a href=(address(&node.id)) { (finding.file) ":" (finding.line) },
                            None => code { (finding.file) ":" (finding.line) },
                        }
                    }
                }
            }
        }
    }
}

fn declaration(model: &ApplicationModel, node: &ModelNode) -> Markup {
    let before = |edge: &&ModelEdge| edge.to == node.id;
    let after = |edge: &&ModelEdge| edge.from == node.id;
    let neighbours = [
        (
            "Comes from",
            ids(model.edges.iter().filter(before).map(|edge| &edge.from)),
        ),
        (
            "Leads to",
            ids(model.edges.iter().filter(after).map(|edge| &edge.to)),
        ),
    ];
    html! {
        section.card #declaration tabindex="-1" {
            h2 { bdi { (node.short_name()) } }
            @for paragraph in node.documentation.split("\n\n").filter(|text| !text.is_empty()) {
                p { (paragraph) }
            }
            dl.facts {
                dt { "Declared" }
                dd { code { (node.file) ":" (node.line) } " of " (node.package) }
                @if let Some(route) = &node.route { dt { "Route" } dd { code { (route) } } }
                @if let Some(role) = node.role_text() { dt { "Role" } dd { (role) } }
                @for rule in &node.rules { dt { "Rule" } dd { (rule.sentence) } }
                @if let Some(subject) = &node.subject { dt { "Subject" } dd { code { (subject) } } }
                @for (label, ids) in neighbours {
                    @if !ids.is_empty() {
                        dt { (label) }
                        dd {
                            @for (index, other) in ids.iter().filter_map(|id| model.node(id)).enumerate() {
                                @if index > 0 { ", " }
                                a href=(address(&other.id)) { (other.short_name()) }
                            }
                        }
                    }
                }
                @if let Some((path, text)) = occurrences(node) {
                    dt { "Occurrences" }
                    dd { a href=(path) { (text) } }
                }
                @if let Some(finding) = model.finding(&node.id) {
                    dt { "Finding" }
                    dd.bad { (finding.message) }
                }
            }
            @if let Some(schema) = &node.schema {
                h2 { "Schema" }
                (json_view::pretty(&schema.to_string()))
            }
        }
    }
}

/// Returns the ids without repetitions, in order.
fn ids<'a>(all: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut ids: Vec<_> = all.collect();
    ids.dedup();
    ids
}

/// Returns the page that shows a declaration at work.
fn occurrences(node: &ModelNode) -> Option<(String, &'static str)> {
    match node.kind {
        NodeKind::Event => Some((
            query_values::address("/console", &[("type", &node.name)]),
            "the newest events of this type",
        )),
        NodeKind::ReadModel => Some((format!("/console/rows/{}", node.name), "the rows")),
        NodeKind::Reaction => Some(("/console/reactions".to_owned(), "the status")),
        NodeKind::Command | NodeKind::State | NodeKind::Query | NodeKind::PublicEvent => None,
    }
}

#[cfg(test)]
mod tests {
    use es_catalog::model::{FindingKind, ModelFinding};
    use serde_json::json;

    use super::*;

    fn event() -> ModelNode {
        ModelNode {
            id: "event:com.example.library.BookPurchasedEvent".to_owned(),
            kind: NodeKind::Event,
            name: "com.example.library.BookPurchasedEvent".to_owned(),
            subject: Some("/books/{id}".to_owned()),
            summary: String::new(),
            documentation: "<script>alert(1)</script>".to_owned(),
            route: None,
            roles: Vec::new(),
            rules: vec![es_catalog::model::ModelRule {
                label: "owner reader".to_owned(),
                sentence: "Clients send it only for their own `reader`.".to_owned(),
            }],
            informational: false,
            package: "library-app".to_owned(),
            file: "src/book/purchase.rs".to_owned(),
            line: 7,
            schema: Some(json!({ "type": "object", "description": "<script>" })),
        }
    }

    #[test]
    fn a_declaration_is_shown_as_text_with_a_link_to_its_events() {
        let model = ApplicationModel {
            subjects: vec!["/books/{id}".to_owned()],
            nodes: vec![event()],
            findings: vec![ModelFinding {
                kind: FindingKind::UnconsumedEvent,
                node: event().id,
                name: event().name,
                message: "no state, read model or reaction consumes it".to_owned(),
                file: event().file,
                line: event().line,
            }],
            ..ApplicationModel::default()
        };
        let model = model.with_findings_for(&std::collections::BTreeSet::new());
        let page = declaration(&model, &event()).into_string();
        assert!(page.contains("src/book/purchase.rs:7"), "{page}");
        assert!(page.contains("only for their own `reader`"), "{page}");
        assert!(
            page.contains("/console?type=com.example.library.BookPurchasedEvent"),
            "{page}"
        );
        assert!(
            page.contains("no state, read model or reaction consumes"),
            "{page}"
        );
        assert!(!page.contains("<script"), "{page}");
        let address = address(&event().id);
        let picture = model.to_inline_svg(&|_| Some(address.clone()));
        assert!(
            picture.contains(&format!("<a href=\"{address}\"")),
            "{picture}"
        );
        // The policy of the pages forbids styles in a page.
        assert!(
            !picture.contains("<style") && !picture.contains("style="),
            "{picture}"
        );
    }
}
