//! The subcommand `describe` of every application. It prints the description that tools work from, with
//! nothing running.

use std::io::{self, Write as _};

use es_catalog::model::ApplicationModel;
use serde::Serialize;
use serde_json::Value;

use super::declarations::Declarations;
use crate::{
    Error, Result,
    http::{asyncapi, openapi},
};

/// The name of the subcommand.
pub(super) const NAME: &str = "describe";

/// All that tools have to know about an application.
#[derive(Serialize)]
struct ApplicationDescription {
    /// The declarations, with the schemas of the events.
    model: ApplicationModel,
    /// The OpenAPI document.
    openapi: Value,
    /// The AsyncAPI document.
    asyncapi: Value,
}

/// Returns the subcommand for the application's command line.
pub(super) fn clap_command() -> clap::Command {
    clap::Command::new(NAME).about(
        "Prints the model, the OpenAPI and AsyncAPI documents and the schemas of the events as JSON, with nothing running. `cargo es` makes pages, pictures and comparisons from it",
    )
}

/// Runs the subcommand.
pub(super) fn run_describe_subcommand(declarations: &Declarations) -> Result<()> {
    let Declarations { name, catalog, .. } = declarations;
    let description = ApplicationDescription {
        model: catalog.to_model(name, &catalog.findings(None)),
        openapi: openapi::document(name, catalog),
        asyncapi: asyncapi::document(name, catalog),
    };
    let text = serde_json::to_string_pretty(&description)
        .map_err(|error| Error::because("the description cannot be written as JSON", error))?;
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| Error::because("cannot write to standard output", error))
}
