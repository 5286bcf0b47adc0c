//! The program `cargo-es`, which Cargo starts for `cargo es`. It writes applications and features of
//! applications, draws applications, compares their contracts, and imports data into a running one. Only the import needs a
//! network.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "lengths of lines in memory cannot overflow"
)]

mod add;
mod application;
mod client_helper;
mod command_line;
mod contract;
mod declared_type;
mod description;
mod draw;
mod error;
mod explain;
mod explanation;
mod field;
mod files;
mod import;
mod module_line;
mod names;
mod new;
mod new_module;
mod openapi;
mod source_template;
mod subject;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser as _;
use es_event::foreign_text::escape_for_terminal;

use command_line::{CommandLine, Subcommand};
use description::ServiceDescription;
use error::ToolError;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done about a standard error that is closed.
            let sentence = escape_for_terminal(&error.to_string());
            let _ = writeln!(io::stderr(), "error: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), ToolError> {
    // Cargo passes the name of the subcommand as the first argument.
    let numbered = std::env::args_os().enumerate();
    let own = numbered.filter(|(index, argument)| *index != 1 || argument != "es");
    let command_line = CommandLine::parse_from(own.map(|(_, argument)| argument));
    let folder = std::env::current_dir()
        .map_err(|error| ToolError::new(format!("the current folder cannot be read: {error}")))?;
    let report = match command_line.subcommand {
        Subcommand::New(arguments) => new::create_application(&folder, &arguments)?,
        Subcommand::Add(declaration) => add::add_declaration(&folder, &declaration)?,
        Subcommand::Explain(arguments) => explain::explain_type(&folder, &arguments.name)?,
        Subcommand::Draw(arguments) => draw::draw_model(&folder, &arguments)?,
        Subcommand::Openapi(arguments) => openapi::render_document(&folder, &arguments)?,
        Subcommand::Asyncapi(arguments) => {
            format!(
                "{:#}\n",
                ServiceDescription::read(&folder, &arguments)?.asyncapi
            )
        }
        Subcommand::Contract(arguments) => contract::compare_with_committed(&folder, &arguments)?,
        Subcommand::Import(arguments) => import::import_file(&arguments)?,
        Subcommand::Client(arguments) => client_helper::client_text(arguments.language).to_owned(),
        Subcommand::Receiver(arguments) => {
            client_helper::receiver_text(arguments.language).to_owned()
        }
    };
    io::stdout()
        .write_all(escape_for_terminal(&report).as_bytes())
        .map_err(|error| ToolError::new(format!("standard output cannot be written: {error}")))
}
