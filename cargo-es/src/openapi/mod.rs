//! The subcommand `openapi` prints the OpenAPI document of an application, or a page about it.

#![allow(
    clippy::indexing_slicing,
    reason = "the index of a JSON value is a name: what it has not is null, and only objects made here are written to"
)]

mod markdown;
mod version_3_0;

use std::path::Path;

use crate::{
    command_line::{OpenApiArguments, OpenApiFormat, OpenApiVersion},
    description::ServiceDescription,
    error::ToolError,
};

/// Returns the document in the format that the arguments name.
pub(crate) fn render_document(
    folder: &Path,
    arguments: &OpenApiArguments,
) -> Result<String, ToolError> {
    let document = ServiceDescription::read(folder, &arguments.description)?.openapi;
    Ok(match (arguments.format, arguments.openapi_version) {
        (OpenApiFormat::Markdown, _) => markdown::render_page(&document),
        (OpenApiFormat::Json, OpenApiVersion::V3_1) => format!("{document:#}\n"),
        (OpenApiFormat::Json, OpenApiVersion::V3_0) => {
            format!("{:#}\n", version_3_0::convert(document))
        }
    })
}
