//! The subcommand `add`: one file for a declaration, with a test that fails until somebody has decided.

pub(crate) mod command;
mod event;
mod query;
mod query_handler;
mod query_source;
mod reaction;
mod read_model;
mod schedule;
mod state;

use std::path::Path;

use crate::{
    application::ScaffoldTarget, command_line::Declaration, declared_type::DeclaredType,
    error::ToolError, field::Field, names::TypeName, source_parts,
};

/// The text of a new module.
pub(crate) struct NewModule {
    pub(crate) name: String,
    pub(crate) text: String,
}

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
        Declaration::Schedule(arguments) => schedule::generate_schedule(&application, arguments),
    }?;
    application.write_module(&module.name, &module.text)
}

fn declarations(fields: &[Field]) -> Vec<String> {
    fields.iter().map(Field::declaration).collect()
}

/// Generates the functions of a state or a read model as source code, one for each event. The first one creates the value,
/// with the fields that the event has. With a list, they take an element of the list, which is the first field.
fn generate_event_functions(
    events: &[(&TypeName, &DeclaredType)],
    fields: &[Field],
    list: Option<&str>,
) -> Vec<String> {
    let mut functions = Vec::new();
    let mark = list.map_or_else(String::new, |list| format!("    #[each({list})]\n"));
    let key = fields.first().filter(|_| list.is_some());
    for (name, event) in events {
        let is_first = functions.is_empty();
        let value = |field: &Field| match key {
            Some(key) if key == field && field.field_type.is_copy() => Some("*element".to_owned()),
            Some(key) if key == field => Some("element.clone()".to_owned()),
            _ => event.field_access_expression(field),
        };
        let values: Vec<_> = fields.iter().map(value).collect();
        let mut of_event = values.iter().skip(usize::from(key.is_some()));
        let takes_event = is_first && of_event.any(Option::is_some);
        let parameter = if takes_event { "event" } else { "_" };
        let element = if is_first { "element" } else { "_" };
        let element = key.map(|key| format!("{element}: &{}", key.field_type.to_rust_type()));
        let receiver = (!is_first).then(|| "&mut self".to_owned());
        let parameters = receiver.into_iter().chain(element);
        let parameters = parameters.chain([format!("{parameter}: &{}", event.name)]);
        let parameters: Vec<_> = parameters.collect();
        let output = is_first.then_some("Self");
        let function = step_name(name, fields);
        let head = source_parts::function_head("fn", &function, &parameters, output);
        if !is_first {
            functions.push(format!("{mark}    {head}}}\n"));
            continue;
        }
        let values = fields.iter().zip(values).map(|(field, value)| {
            let value = value.unwrap_or_else(|| field.field_type.default_expression().to_owned());
            (field.name.clone(), value)
        });
        let literal = source_parts::struct_literal("Self", &values.collect::<Vec<_>>());
        functions.push(format!("{mark}    {head}\n        {literal}\n    }}\n"));
    }
    functions
}

/// Returns the name of the function for an event. Each column of a read model has a function of its own name.
fn step_name(event: &TypeName, fields: &[Field]) -> String {
    let mut name = event.snake_case();
    while fields.iter().any(|field| field.name == name) {
        name.push_str("_event");
    }
    name
}

/// Finds the events of a state or a read model, each of which may have one function.
fn events_of<'a>(
    application: &'a ScaffoldTarget,
    names: &'a [crate::names::EventName],
) -> Result<Vec<(&'a TypeName, &'a DeclaredType)>, ToolError> {
    let mut events = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if names.iter().take(index).any(|earlier| earlier == name) {
            let name = name.type_name();
            return Err(ToolError::new(format!("{name} is named twice")));
        }
        events.push((name.stem(), application.require_event(name)?));
    }
    Ok(events)
}

fn imports_of(events: &[(&TypeName, &DeclaredType)]) -> Result<String, ToolError> {
    let paths = events.iter().map(|(_, event)| event.import_path());
    let paths = paths.collect::<Result<_, _>>()?;
    Ok(source_parts::imports(paths))
}
