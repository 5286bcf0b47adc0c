//! The functions of a state or a read model, one for each event.

use crate::{
    application::ScaffoldTarget,
    declared_type::DeclaredType,
    error::ToolError,
    field::Field,
    names::{TypeName, TypePath},
    source_template::fill_template,
};

const FIRST: &str = include_str!("../../templates/add/first_event.rs");
const LATER: &str = include_str!("../../templates/add/later_event.rs");

/// Finds the events of a state or a read model, each of which may have one function.
pub(super) fn find_events<'a>(
    application: &'a ScaffoldTarget,
    paths: &[TypePath],
) -> Result<Vec<&'a DeclaredType>, ToolError> {
    let mut events: Vec<&DeclaredType> = Vec::new();
    for path in paths {
        let event = application.require("event", path)?;
        if events.iter().any(|earlier| earlier.path == event.path) {
            let name = &event.name;
            return Err(ToolError::new(format!("{name} is named twice")));
        }
        events.push(event);
    }
    Ok(events)
}

/// Generates the functions. The first event creates the value, with the fields that it has. With a list, they take an
/// element of the list, which is the first field.
pub(super) fn generate_event_functions(
    paths: &[TypePath],
    events: &[&DeclaredType],
    fields: &[Field],
    list: Option<&str>,
) -> String {
    let key = fields.first().filter(|_| list.is_some());
    let each = list.map_or_else(String::new, |list| format!("#[each({list})]\n    "));
    let functions = paths
        .iter()
        .zip(events)
        .enumerate()
        .map(|(index, (path, event))| {
            let template = if index == 0 { FIRST } else { LATER };
            let values = fields.iter().map(|field| initial_value(field, event, key));
            let values = values.collect::<Vec<_>>().join(", ");
            let takes_event = values.contains("event.");
            let element = if index == 0 { "element" } else { "_" };
            let element = key.map(|key| format!("{element}: &{}, ", key.field_type.to_rust_type()));
            fill_template(
                template,
                &[
                    ("each", &each),
                    ("function", &function_name(path.name(), fields)),
                    ("element", &element.unwrap_or_default()),
                    ("parameter", if takes_event { "event" } else { "_" }),
                    ("event", &event.name),
                    ("values", &values),
                ],
            )
        });
    functions.collect::<Vec<_>>().join("\n")
}

/// Returns a field of a struct literal.
fn initial_value(field: &Field, event: &DeclaredType, key: Option<&Field>) -> String {
    let value = match key {
        Some(key) if key == field && field.field_type.is_copy() => Some("*element".to_owned()),
        Some(key) if key == field => Some("element.clone()".to_owned()),
        _ => event.field_access_expression(field),
    };
    let expression = value.unwrap_or_else(|| field.field_type.default_expression().to_owned());
    format!("{}: {expression}", field.name)
}

/// Returns the name of the function for an event. Each column of a read model has a function of its own name.
fn function_name(event: &TypeName, fields: &[Field]) -> String {
    let mut name = event.snake_case();
    while fields.iter().any(|field| field.name == name) {
        name.push_str("_event");
    }
    name
}
