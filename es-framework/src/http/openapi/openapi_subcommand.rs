//! The subcommand `openapi` of every application. It prints the document without starting the service.

use std::io::{self, Write as _};

use clap::ArgMatches;

use super::{document, markdown};
use crate::{Error, Result, command::Registry, query::QueryRoute};

/// The name of the subcommand.
pub(crate) const NAME: &str = "openapi";

const FORMAT: &str = "format";

/// Returns the subcommand for the application's command line.
pub(crate) fn command() -> clap::Command {
    let format = clap::Arg::new(FORMAT)
        .long(FORMAT)
        .value_parser(["json", "markdown"])
        .default_value("json")
        .help("As the document itself, or as a page that lists what commands and queries take and answer");
    clap::Command::new(NAME)
        .about("Prints the OpenAPI document of the application, with nothing running")
        .arg(format)
}

/// Runs the subcommand.
pub(crate) fn run(
    matches: &ArgMatches,
    name: &str,
    registry: &Registry,
    queries: &[QueryRoute],
) -> Result<()> {
    let document = document(name, registry, queries);
    let is_page = matches
        .get_one::<String>(FORMAT)
        .is_some_and(|format| format == "markdown");
    let text = match is_page {
        true => markdown::write_page(&document),
        false => format!("{document:#}\n"),
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::because("cannot write to standard output", error))
}
