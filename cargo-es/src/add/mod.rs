//! The subcommand `add`: one file for a declaration, with a test that fails until somebody has decided.

pub(crate) mod command;
mod event;
mod event_functions;
mod publication;
mod query;
mod reaction;
mod read_model;
mod state;

use std::path::Path;

use crate::{
    application::ScaffoldTarget, command_line::Declaration, declared_type::DeclaredType,
    error::ToolError,
};

/// Writes the declaration into the application around a folder. Returns a report.
pub(crate) fn add_declaration(
    folder: &Path,
    declaration: &Declaration,
) -> Result<String, ToolError> {
    let application = ScaffoldTarget::find(folder)?;
    let module = match declaration {
        Declaration::Command(arguments) => command::generate_command(&application, arguments),
        Declaration::Event(arguments) => event::generate_event(&application, arguments),
        Declaration::State(arguments) => state::generate_state(&application, arguments),
        Declaration::ReadModel(arguments) => {
            read_model::generate_read_model(&application, arguments)
        }
        Declaration::Query(arguments) => query::generate_query(&application, arguments),
        Declaration::Reaction(arguments) => reaction::generate_reaction(&application, arguments),
        Declaration::Schedule(arguments) => reaction::generate_schedule(&application, arguments),
        Declaration::PublicEvent(arguments) => {
            publication::generate_public_event(&application, arguments)
        }
        Declaration::Publication(arguments) => {
            publication::generate_publication(&application, arguments)
        }
    }?;
    application.write_module(&module)
}

/// Returns the imports of types.
fn imports_of(types: &[&DeclaredType]) -> String {
    let lines = types.iter().map(|one| format!("use {};\n", one.path));
    lines.collect()
}
