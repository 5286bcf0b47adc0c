//! The subcommand `contract` compares a committed OpenAPI document with that of the application, and finds the
//! changes that break clients of the committed one.
//!
//! A request has to take what it took, so it may become wider. A response has to stay within what it
//! was, so it may become narrower.

mod access_comparison;
mod client_break;
mod contract_comparison;
mod integer_range;
mod operation_change;
mod operation_comparison;
mod schema_comparison;
mod schema_shape;
#[cfg(test)]
mod tests;

use std::{io, path::Path};

use es_event::foreign_text::read_text;
use serde_json::Value;

use crate::{command_line::ContractArguments, description::ServiceDescription, error::ToolError};

use contract_comparison::ContractComparison;

/// Compares the document with the committed file, and returns the report if no client breaks.
pub(crate) fn compare_with_committed(
    folder: &Path,
    arguments: &ContractArguments,
) -> Result<String, ToolError> {
    let committed = read_committed(&arguments.committed)?;
    let description = ServiceDescription::read(folder, &arguments.description)?;
    let locate = |method: &str, path: &str| description.declaration_of(method, path);
    let comparison = ContractComparison::new(&committed, &description.openapi, locate);
    let file = arguments.committed.display();
    if comparison.is_breaking() {
        return Err(ToolError::new(format!("{file}: {comparison}")));
    }
    let hint = if committed == description.openapi {
        String::new()
    } else {
        format!(
            "\nthe file is out of date: write it with `cargo es openapi > {file}` and commit it"
        )
    };
    Ok(format!("{file}: {comparison}{hint}\n"))
}

fn read_committed(file: &Path) -> Result<Value, ToolError> {
    let name = file.display();
    let text = read_text(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ToolError::new(format!(
            "there is no {name}: write it with `cargo es openapi > {name}` and commit it"
        )),
        _ => ToolError::io(file, &error),
    })?;
    let document: Value = serde_json::from_str(&text)
        .map_err(|error| ToolError::new(format!("{name} is not JSON: {error}")))?;
    if document.get("paths").is_some_and(Value::is_object) {
        Ok(document)
    } else {
        Err(ToolError::new(format!(
            "{name} is no OpenAPI document: it has no object `paths`"
        )))
    }
}

/// A document whose references are resolved.
#[derive(Debug, Clone, Copy)]
struct DocumentReader<'a>(&'a Value);

impl<'a> DocumentReader<'a> {
    /// The longest chain of references that is followed.
    const MAX_REFERENCES: usize = 16;

    /// Returns the value that a `$ref` of this value names.
    fn referenced(self, value: &'a Value) -> Option<&'a Value> {
        let reference = value.get("$ref")?.as_str()?;
        self.0.pointer(reference.strip_prefix('#')?)
    }

    /// Returns the value, or the one that its `$ref` names.
    fn resolve(self, mut value: &'a Value) -> &'a Value {
        for _ in 0..Self::MAX_REFERENCES {
            match self.referenced(value) {
                Some(named) => value = named,
                None => break,
            }
        }
        value
    }
}
