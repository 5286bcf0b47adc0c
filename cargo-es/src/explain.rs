//! The subcommand `explain` shows what the framework derived from a declaration. It runs the subcommand `model`
//! of the application, which prints that.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{application::ScaffoldTarget, error::ScaffoldError, explanation};

/// Compiles the application around a folder, and returns the text about a declared type.
pub(crate) fn explain_type(folder: &Path, name: &str) -> Result<String, ScaffoldError> {
    let application = ScaffoldTarget::find(folder)?;
    let model = read_model_of(application.folder())?;
    let nodes = model.get("nodes").and_then(Value::as_array);
    let is_declared_here = |node: &&Value| {
        let full_name = node.get("name").and_then(Value::as_str).unwrap_or_default();
        let is_named = full_name == name || full_name.strip_suffix(name).is_some_and(ends_package);
        // A table has a name of its own, and so may an event.
        is_named
            || application.types_named(name).any(|declared| {
                let file = declared.file.to_str();
                file == node.get("file").and_then(Value::as_str)
                    && Some(declared.line) == node.get("line").and_then(Value::as_u64)
            })
    };
    let found = nodes.into_iter().flatten().filter(is_declared_here);
    let texts: Vec<_> = found
        .map(|node| explanation::describe_node(node, &model))
        .collect();
    if texts.is_empty() {
        return Err(ScaffoldError::new(format!(
            "the application has no command, event, state that a handler takes, read model, query or reaction {name}"
        )));
    }
    Ok(texts.join("\n"))
}

/// Returns whether a text is the package in front of the name of an event.
fn ends_package(before: &str) -> bool {
    before.ends_with('.')
}

/// Runs the application's subcommand `model`.
fn read_model_of(folder: &Path) -> Result<Value, ScaffoldError> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--", "model", "--format", "json"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| ScaffoldError::new(format!("cargo does not start: {error}")))?;
    if !output.status.success() {
        return Err(ScaffoldError::new(
            "the application does not print its model",
        ));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| {
        ScaffoldError::new(format!("the model of the application is no JSON: {error}"))
    })
}
