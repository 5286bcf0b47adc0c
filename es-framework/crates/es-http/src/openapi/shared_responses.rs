//! The responses that several operations have in common: each stands once, in the components of the document.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::problem_schemas;

/// Moves the problems that at least two operations respond with to the components, and returns these. The name of a
/// response lists its problems, so that it does not depend on other operations.
pub(super) fn share_responses(paths: &mut Map<String, Value>) -> Map<String, Value> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for name in problem_responses(paths).filter_map(|response| name_of(response)) {
        let count = counts.entry(name).or_default();
        *count = count.saturating_add(1);
    }
    let mut shared = Map::new();
    for response in problem_responses(paths) {
        let repeated = name_of(response).filter(|name| counts.get(name).is_some_and(|&n| n > 1));
        let Some(name) = repeated else {
            continue;
        };
        // Commands can have rejections of one name and different titles.
        let known = shared.entry(&name).or_insert_with(|| response.clone());
        if known == response {
            *response = json!({ "$ref": format!("#/components/responses/{name}") });
        }
    }
    shared
}

fn problem_responses(paths: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    let operations = paths.values_mut().filter_map(Value::as_object_mut);
    let responses = operations
        .flat_map(|operations| operations.values_mut())
        .filter_map(|operation| operation.get_mut("responses")?.as_object_mut());
    responses.flat_map(|responses| responses.values_mut())
}

/// Returns the names of the problems of a response that has nothing else.
fn name_of(response: &Value) -> Option<String> {
    let content = response.get("content")?.as_object()?;
    let problems = content.get(problem_schemas::MEDIA_TYPE)?.get("examples")?;
    let mut names: Vec<_> = problems.as_object()?.keys().map(String::as_str).collect();
    names.sort_unstable();
    (content.len() == 1).then(|| names.join("."))
}
