//! The command line of an application: its settings, and what it does instead of serving.

use clap::{ArgMatches, Command, CommandFactory as _};

use super::{projections, reactions, refused, schema_lock_cli, serving::Served};
use crate::{
    Result,
    config::Config,
    http::{auth, openapi},
    settings::{self, SettingsDescriptor},
};

/// The settings, those of the application among them, and the subcommands.
pub(super) fn command_line(name: &'static str, own: &[&SettingsDescriptor]) -> Result<Command> {
    let command = Config::command().name(name);
    settings::check(&command, own).map_err(|error| refused(name, error))?;
    let command = command.args(own.iter().flat_map(|settings| (settings.arguments)()));
    Ok(command
        .subcommand(schema_lock_cli::command())
        .subcommand(openapi::cli::command())
        .subcommand(auth::cli::command())
        .subcommand(projections::command())
        .subcommand(reactions::command())
        .subcommand_negates_reqs(true))
}

/// Carries out the subcommand, if one was given.
pub(super) fn subcommand(
    matches: &ArgMatches,
    name: &'static str,
    served: &Served,
) -> Option<Result<()>> {
    let Served {
        registry, queries, ..
    } = served;
    let (given, matches) = matches.subcommand()?;
    match given {
        schema_lock_cli::NAME => Some(schema_lock_cli::run(matches, registry)),
        openapi::cli::NAME => Some(openapi::cli::run(matches, name, registry, queries)),
        auth::cli::NAME => Some(auth::cli::run(matches)),
        projections::NAME => Some(projections::run(matches)),
        reactions::NAME => Some(reactions::run(matches)),
        _ => None,
    }
}
