//! The command line of an application: its settings and its subcommands.

use clap::{ArgMatches, Command, CommandFactory as _};

use super::{
    declarations::{Declarations, start_error},
    describe_subcommand, event_import,
};
use crate::{
    Result,
    config::SettingsArguments,
    http,
    settings::{self, SettingsDescriptor},
};

/// Returns the command line with the framework's settings, those that the application declares, and
/// the subcommands.
pub(super) fn build_command(
    declarations: &Declarations,
    has_framework_settings: bool,
    declared: &[&SettingsDescriptor],
) -> Result<Command> {
    let Declarations { name, catalog, .. } = declarations;
    let framework = SettingsArguments::command().name(name);
    settings::check_clashes(&framework, declared).map_err(|error| start_error(name, error))?;
    let bare = if has_framework_settings {
        framework
    } else {
        Command::new(name).about("An event-sourced application.")
    };
    let with_settings = bare
        .version(catalog.version())
        .args(declared.iter().flat_map(|settings| (settings.arguments)()))
        .subcommand_negates_reqs(true);
    let command =
        http::add_subcommands(with_settings).subcommand(describe_subcommand::clap_command());
    let command = command.subcommand(event_import::clap_command());
    #[cfg(feature = "server")]
    let command = command.subcommand(event_store_subcommand());
    Ok(command)
}

/// Returns the program `event-store` as a subcommand.
#[cfg(feature = "server")]
fn event_store_subcommand() -> Command {
    let about = "Backs up, restores, verifies, copies and serves event stores";
    es_server::cli::clap_command().about(about).long_about(None)
}

/// Runs the subcommand of the command line, if there is one.
pub(super) fn run_subcommand(
    matches: &ArgMatches,
    declarations: &Declarations,
) -> Option<Result<()>> {
    match matches.subcommand()? {
        (describe_subcommand::NAME, _) => {
            Some(describe_subcommand::run_describe_subcommand(declarations))
        }
        #[cfg(feature = "server")]
        ("event-store", matches) => match es_server::cli::run(matches) {
            0 => Some(Ok(())),
            // Scripts know a damaged store by the code. The reason is printed.
            code => std::process::exit(code.into()),
        },
        // It needs the settings, so it runs later.
        (event_import::NAME, _) => None,
        _ => http::run_subcommand(matches),
    }
}
