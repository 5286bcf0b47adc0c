//! The subcommand `openapi` of every application. It prints the document without starting the service,
//! or compares it with a committed one.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{Arg, ArgMatches};
use serde_json::Value;

use super::{contract::ContractComparison, document, markdown, version_3_0};
use crate::{Error, Result, command::Registry, query::QueryRoute};

/// The name of the subcommand.
pub(crate) const NAME: &str = "openapi";

const FORMAT: &str = "format";
const VERSION: &str = "openapi-version";
const CHECK: &str = "check";
const FILE: &str = "file";

/// Returns the subcommand for the application's command line.
pub(crate) fn clap_command() -> clap::Command {
    let format = Arg::new(FORMAT)
        .long(FORMAT)
        .value_parser(["json", "markdown"])
        .default_value("json")
        .help("As the document itself, or as a page that lists what commands and queries take and answer");
    let version = Arg::new(VERSION)
        .long(VERSION)
        .value_parser(["3.1", "3.0"])
        .default_value("3.1")
        .conflicts_with(FORMAT)
        .help("The version of the specification. Some generators read 3.0 only");
    let file = Arg::new(FILE)
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .default_value("openapi.json")
        .help("Path of the committed document");
    let check = clap::Command::new(CHECK)
        .about("Compares the document with a committed one. Fails if a change breaks clients, and names them and the ways out; lists the other changes")
        .arg(file);
    clap::Command::new(NAME)
        .about("Prints the OpenAPI document of the application, with nothing running")
        .arg(format)
        .arg(version)
        .subcommand(check)
        .args_conflicts_with_subcommands(true)
}

/// Runs the subcommand.
pub(crate) fn run_openapi_subcommand(
    matches: &ArgMatches,
    name: &str,
    registry: &Registry,
    queries: &[QueryRoute],
) -> Result<()> {
    let document = document(name, registry, queries);
    let file = matches
        .subcommand_matches(CHECK)
        .and_then(|check| check.get_one::<PathBuf>(FILE));
    let is_given = |name: &str, expected: &str| {
        let value = matches.get_one::<String>(name);
        value.is_some_and(|value| value == expected)
    };
    let text = if let Some(file) = file {
        check(file, &document, registry, queries)?
    } else if is_given(FORMAT, "markdown") {
        markdown::render_page(&document)
    } else if is_given(VERSION, "3.0") {
        format!("{:#}\n", version_3_0::convert(document))
    } else {
        format!("{document:#}\n")
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::because("cannot write to standard output", error))
}

/// Compares the document with the committed file, and returns the report if no client breaks.
fn check(
    file: &Path,
    document: &Value,
    registry: &Registry,
    queries: &[QueryRoute],
) -> Result<String> {
    let committed = read(file)?;
    let locate = |method: &str, path: &str| {
        let command = registry.commands().iter().find(|one| one.path == path);
        let query = queries.iter().find(|one| one.path == path);
        match method {
            "post" => command.map(|command| command.declaration),
            "get" => query.map(|query| query.declaration),
            _ => None,
        }
    };
    let comparison = ContractComparison::new(&committed, document, locate);
    let file = file.display();
    if comparison.is_breaking() {
        return Err(Error::new(format!("{file}: {comparison}")));
    }
    let hint = if committed == *document {
        String::new()
    } else {
        format!(
            "\nthe file is out of date: write it with the subcommand `openapi > {file}` and commit it"
        )
    };
    Ok(format!("{file}: {comparison}{hint}\n"))
}

fn read(file: &Path) -> Result<Value> {
    let name = file.display();
    let text = fs::read_to_string(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::new(format!(
            "there is no {name}: write it with the subcommand `openapi > {name}` and commit it"
        )),
        _ => Error::because(format!("cannot read {name}"), error),
    })?;
    let document: Value = serde_json::from_str(&text)
        .map_err(|error| Error::because(format!("{name} is not JSON"), error))?;
    if document.get("paths").is_some_and(Value::is_object) {
        Ok(document)
    } else {
        Err(Error::new(format!(
            "{name} is no OpenAPI document: it has no object `paths`"
        )))
    }
}
