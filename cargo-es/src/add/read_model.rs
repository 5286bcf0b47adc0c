//! `cargo es add read-model`: a read model and its projection.

use super::{
    event_functions::{find_events, generate_event_functions},
    imports_of,
};
use crate::{
    application::ScaffoldTarget,
    command_line::NewReadModelArguments,
    declared_type::DeclaredType,
    error::ToolError,
    field::{Field, check_distinct, declare_fields},
    new_module::NewModule,
    subject::PathTemplate,
};

const TEMPLATE: &str = include_str!("../../templates/add/read_model.rs");

pub(super) fn generate_read_model(
    application: &ScaffoldTarget,
    arguments: &NewReadModelArguments,
) -> Result<NewModule, ToolError> {
    application.check_type_is_new(&arguments.name)?;
    let (paths, list) = (&arguments.events, arguments.each.as_deref());
    let events = find_events(application, paths)?;
    let (fields, key) = match &arguments.subject {
        Some(subject) => {
            let fields = subject.complete_fields(&arguments.fields)?;
            check_key_of_subject(subject, &fields, &events)?;
            (fields, subject.fields.clone())
        }
        None => {
            check_distinct(&arguments.fields)?;
            let list = list.unwrap_or_default();
            let key = key_of_elements(list, &arguments.fields, &events)?;
            (arguments.fields.clone(), vec![key.name.clone()])
        }
    };
    let subject = arguments.subject.as_ref();
    let subject_argument = subject.map(|subject| format!(", subject = \"{}\"", subject.text));
    let is_key = |field: &Field| key.contains(&field.name).then(|| "#[key]".to_owned());
    Ok(NewModule::from_template(
        TEMPLATE,
        &arguments.name,
        &[
            ("imports", imports_of(&events).as_str()),
            ("table", &plural(&arguments.name.snake_case())),
            ("subject", &subject_argument.unwrap_or_default()),
            ("fields", &declare_fields(&fields, is_key)),
            (
                "functions",
                &generate_event_functions(paths, &events, &fields, list),
            ),
        ],
    ))
}

/// Fails unless the first event has the fields of the subject, from which a row reads its key.
fn check_key_of_subject(
    subject: &PathTemplate,
    fields: &[Field],
    events: &[&DeclaredType],
) -> Result<(), ToolError> {
    if subject.fields.is_empty() {
        let text = &subject.text;
        return Err(ToolError::new(format!(
            "the subject {text} has no field that could be the key of a row, as in `/books/{{id}}`"
        )));
    }
    for field in fields
        .iter()
        .filter(|field| subject.fields.contains(&field.name))
    {
        if let Some(first) = events.first() {
            first.check_field(&field.name, field.field_type, false)?;
        }
    }
    Ok(())
}

/// Returns the field that is the key of a row for each element of a list.
fn key_of_elements<'a>(
    list: &str,
    fields: &'a [Field],
    events: &[&DeclaredType],
) -> Result<&'a Field, ToolError> {
    let Some(key) = fields.first() else {
        return Err(ToolError::new(
            "the first field is the key of a row: add `--field number:u32`, with the type of an element",
        ));
    };
    let key_type = key.field_type.to_rust_type();
    if !key.field_type.can_fill_subject() {
        return Err(ToolError::new(format!(
            "`{}` is the key of a row, which a {key_type} cannot be: make it a Uuid, a String or an integer",
            key.name
        )));
    }
    let list_type = format!("Vec<{key_type}>").parse().map_err(ToolError::new)?;
    for event in events {
        event.check_field(list, list_type, false)?;
    }
    Ok(key)
}

/// Returns the name of a table: the plural of most nouns. A noun that ends in one `s` is a plural already.
fn plural(noun: &str) -> String {
    let ends_in_vowel_and_y = ["ay", "ey", "oy", "uy"]
        .iter()
        .any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(stem) if !ends_in_vowel_and_y => format!("{stem}ies"),
        _ if noun.ends_with('s') && !noun.ends_with("ss") => noun.to_owned(),
        _ if ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn a_table_is_named_with_the_plural() {
        let nouns = ["book_copy", "day", "box", "loan", "class", "club_totals"];
        let tables = [
            "book_copies",
            "days",
            "boxes",
            "loans",
            "classes",
            "club_totals",
        ];
        assert_eq!(nouns.map(plural), tables);
    }
}
