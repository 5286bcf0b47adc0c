//! The description of an application, which the application prints as `describe`. The tools work from it.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
};

use es_event::foreign_text::read_file;
use serde::Deserialize;
use serde_json::Value;

use crate::{application::ScaffoldTarget, command_line::DescriptionArguments, error::ToolError};

/// All that the tools have to know about an application.
#[derive(Debug, Deserialize)]
pub(crate) struct ServiceDescription {
    /// The declarations as a graph, which `docs/src/how-to/model.md` describes.
    pub(crate) model: Value,
    /// The OpenAPI document.
    pub(crate) openapi: Value,
    /// The AsyncAPI document.
    #[serde(default)]
    pub(crate) asyncapi: Value,
}

impl ServiceDescription {
    /// Reads the description from the file that the arguments name, or from the application around a folder.
    pub(crate) fn read(folder: &Path, arguments: &DescriptionArguments) -> Result<Self, ToolError> {
        let Some(file) = &arguments.description else {
            return Self::of_application(ScaffoldTarget::find(folder)?.folder());
        };
        let json = read_file(file).map_err(|error| ToolError::io(file, &error))?;
        serde_json::from_slice(&json).map_err(|error| {
            let file = file.display();
            ToolError::new(format!(
                "{file} is no description: {error}. Write it with the subcommand `describe` of the application"
            ))
        })
    }

    /// Compiles the application in a folder, and runs its subcommand `describe`.
    pub(crate) fn of_application(folder: &Path) -> Result<Self, ToolError> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["run", "--quiet", "--", "describe"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| ToolError::new(format!("cargo does not start: {error}")))?;
        if !output.status.success() {
            return Err(ToolError::new(
                "the application does not print its description",
            ));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| {
            ToolError::new(format!(
                "the application prints no description that this version of `cargo es` reads: {error}"
            ))
        })
    }

    /// Returns the file and the line of the command or query that has a route.
    pub(crate) fn declaration_of(&self, method: &str, path: &str) -> Option<String> {
        let route = format!("{} {path}", method.to_uppercase());
        let mut nodes = self.model.get("nodes")?.as_array()?.iter();
        let node = nodes.find(|node| node.get("route").is_some_and(|own| own == route.as_str()))?;
        let file = node.get("file")?.as_str()?;
        Some(format!("{file}:{}", node.get("line")?))
    }
}
