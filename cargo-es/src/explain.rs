//! The subcommand `explain` shows what the framework derived from a declaration.

use std::path::Path;

use es_event::foreign_text::read_text;
use serde_json::Value;

use crate::{
    application::ScaffoldTarget, description::ServiceDescription, error::ToolError, explanation,
};

/// Compiles the application around a folder, and returns the text about a declared type.
pub(crate) fn explain_type(folder: &Path, name: &str) -> Result<String, ToolError> {
    let application = ScaffoldTarget::find(folder)?;
    let model = ServiceDescription::of_application(application.folder())?.model;
    let nodes = model.get("nodes").and_then(Value::as_array);
    let is_declared_here = |node: &&Value| {
        let full_name = node.get("name").and_then(Value::as_str).unwrap_or_default();
        let is_named = full_name == name || full_name.strip_suffix(name).is_some_and(ends_package);
        // A table has a name of its own, and so may an event.
        is_named || is_declared_at(node, application.folder(), name)
    };
    let found = nodes.into_iter().flatten().filter(is_declared_here);
    let texts: Vec<_> = found
        .map(|node| explanation::describe_node(node, &model))
        .collect();
    if texts.is_empty() {
        return Err(ToolError::new(format!(
            "the application has no command, event, state that a handler takes, read model, query, reaction or public event {name}"
        )));
    }
    Ok(texts.join("\n"))
}

/// Returns whether a text is the package in front of the name of an event.
fn ends_package(before: &str) -> bool {
    before.ends_with('.')
}

/// Returns whether the line of a declaration has this name.
fn is_declared_at(node: &Value, folder: &Path, name: &str) -> bool {
    let find_line = || {
        let file = node.get("file")?.as_str()?;
        let text = read_text(&folder.join(file)).ok()?;
        let number = usize::try_from(node.get("line")?.as_u64()?).ok()?;
        text.lines().nth(number.checked_sub(1)?).map(str::to_owned)
    };
    let is_in_name = |one: char| one.is_alphanumeric() || one == '_';
    find_line().is_some_and(|line| line.split(|one| !is_in_name(one)).any(|word| word == name))
}
