//! The subcommand `client` of every application. It prints the helper for clients in one language.

use std::io::{self, Write as _};

use clap::{Arg, ArgMatches};

use crate::{Error, Result};

/// The name of the subcommand.
pub(super) const NAME: &str = "client";

const LANGUAGE: &str = "language";

const TYPESCRIPT: &str = include_str!("../client_helper/helper.ts");
const PYTHON: &str = include_str!("../client_helper/helper.py");

/// Returns the subcommand for the application's command line.
pub(super) fn clap_command() -> clap::Command {
    let language = Arg::new(LANGUAGE)
        .value_name("LANGUAGE")
        .required(true)
        .help("typescript (beside openapi-fetch) or python (beside openapi-python-client)");
    clap::Command::new(NAME)
        .about("Prints a helper for clients, beside a generated client: safe retries, own writes, problems, pages and live queries")
        .arg(language)
}

/// Runs the subcommand.
pub(super) fn run_client_subcommand(matches: &ArgMatches) -> Result<()> {
    let language = matches.get_one::<String>(LANGUAGE).map(String::as_str);
    let helper = match language.unwrap_or_default() {
        "typescript" => TYPESCRIPT,
        "python" => PYTHON,
        other => {
            return Err(Error::new(format!(
                "there is no client helper for {other}: the languages are typescript and python"
            )));
        }
    };
    let mut out = io::stdout().lock();
    out.write_all(helper.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::because("cannot write to standard output", error))
}
