//! The program `cargo-es`, which Cargo starts for `cargo es`. It writes applications and features of
//! applications, and needs no network.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "lengths of lines in memory cannot overflow"
)]

mod add;
mod application;
mod command_line;
mod declared_type;
mod error;
mod explain;
mod explanation;
mod field;
mod files;
mod module_line;
mod names;
mod new;
mod rustfmt_layout;
mod source_template;
mod subject;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser as _;

use command_line::{CommandLine, Subcommand};
use error::ScaffoldError;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done about a standard error that is closed.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), ScaffoldError> {
    // Cargo passes the name of the subcommand as the first argument.
    let arguments = std::env::args_os().enumerate();
    let arguments = arguments.filter(|(index, argument)| *index != 1 || argument != "es");
    let command_line = CommandLine::parse_from(arguments.map(|(_, argument)| argument));
    let folder = std::env::current_dir().map_err(|error| {
        ScaffoldError::new(format!("the current folder cannot be read: {error}"))
    })?;
    let report = match command_line.subcommand {
        Subcommand::New(arguments) => new::create_application(&folder, &arguments)?,
        Subcommand::Add(declaration) => add::add_declaration(&folder, &declaration)?,
        Subcommand::Explain(arguments) => explain::explain_type(&folder, &arguments.name)?,
    };
    io::stdout()
        .write_all(report.as_bytes())
        .map_err(|error| ScaffoldError::new(format!("standard output cannot be written: {error}")))
}
