//! The subcommand `model` of every application. It prints the model without starting the service.

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
};

use clap::{Arg, ArgMatches, value_parser};
use es_model::ApplicationModel;

use super::declarations::Declarations;
use crate::{Error, Result};

/// The name of the subcommand.
pub(super) const NAME: &str = "model";

const FORMAT: &str = "format";
const ROLES: &str = "roles";

/// Returns the subcommand for the application's command line.
pub(super) fn clap_command() -> clap::Command {
    let format = Arg::new(FORMAT)
        .long(FORMAT)
        .value_parser(["svg", "mermaid", "json"])
        .default_value("svg")
        .help("As a picture, as a Mermaid flowchart, or as data");
    let roles = Arg::new(ROLES)
        .long(ROLES)
        .value_name("ROLES")
        .value_delimiter(',')
        .value_parser(value_parser!(String))
        .help("Roles that callers can have, with commas between them. Marks the commands that need another role");
    clap::Command::new(NAME)
        .about("Prints the model of the application: its commands, events, states, read models, queries and reactions, with nothing running")
        .arg(format)
        .arg(roles)
}

/// Runs the subcommand.
pub(super) fn run_model_subcommand(
    matches: &ArgMatches,
    declarations: &Declarations,
) -> Result<()> {
    let mut model = declarations.build_application_model();
    if let Some(roles) = matches.get_many::<String>(ROLES) {
        model = model.with_roles(&roles.cloned().collect::<BTreeSet<_>>());
    }
    let format = matches.get_one::<String>(FORMAT).map(String::as_str);
    let text = match format {
        Some("json") => json(&model)?,
        Some("mermaid") => model.to_mermaid(),
        _ => model.to_svg(),
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::because("cannot write to standard output", error))
}

fn json(model: &ApplicationModel) -> Result<String> {
    let text = model.to_json();
    text.map_err(|error| Error::because("the model cannot be written as JSON", error))
}
