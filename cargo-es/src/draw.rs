//! The subcommand `draw` draws the model of an application.

use std::{collections::BTreeSet, path::Path};

use es_catalog::model::ApplicationModel;

use crate::{
    command_line::{DrawArguments, DrawingFormat},
    description::ServiceDescription,
    error::ToolError,
};

/// Returns the model in the format that the arguments name.
pub(crate) fn draw_model(folder: &Path, arguments: &DrawArguments) -> Result<String, ToolError> {
    let description = ServiceDescription::read(folder, &arguments.description)?;
    let parsed = serde_json::from_value(description.model);
    let mut model: ApplicationModel = parsed.map_err(|error| {
        ToolError::new(format!(
            "the description has no model that this version of `cargo es` reads: {error}"
        ))
    })?;
    if !arguments.roles.is_empty() {
        let roles: BTreeSet<_> = arguments.roles.iter().cloned().collect();
        model = model.with_findings_for(&roles);
    }
    match arguments.format {
        DrawingFormat::Svg => Ok(model.to_svg()),
        DrawingFormat::Mermaid => Ok(model.to_mermaid()),
        DrawingFormat::Json => serde_json::to_string_pretty(&model)
            .map(|text| text + "\n")
            .map_err(|error| ToolError::new(format!("the model cannot be written: {error}"))),
    }
}
