//! `cargo es add read-model`: a read model and its projection.

use super::{NewModule, events_of, generate_event_functions, imports_of};
use crate::{
    application::ScaffoldTarget,
    command_line::NewReadModelArguments,
    declared_type::DeclaredType,
    error::ToolError,
    field::{Field, check_distinct},
    names::{FieldName, TypeName, check_sql_name},
    source_parts, source_template,
    subject::SubjectTemplate,
};

const TEMPLATE: &str = include_str!("../../templates/add/read_model.rs");

pub(super) fn generate_read_model(
    application: &ScaffoldTarget,
    arguments: &NewReadModelArguments,
) -> Result<NewModule, ToolError> {
    let (name, model) = (arguments.name.snake_case(), arguments.name.as_str());
    application.check_type_is_new(model)?;
    let events = events_of(application, &arguments.events)?;
    let mut attribute = vec![format!("table = \"{}\"", plural(&name))];
    let (key, fields) = match (&arguments.subject, &arguments.each) {
        (Some(subject), _) => {
            attribute.push(format!("subject = \"{}\"", subject.as_str()));
            let fields = subject.complete_fields(&arguments.fields)?;
            let key = key_of_subject(subject, &fields, &events)?;
            check_subjects(application, subject, &events)?;
            (key, fields)
        }
        (None, list) => {
            check_distinct(&arguments.fields)?;
            let list = list.as_ref().map_or("", FieldName::as_str);
            let key = key_of_elements(list, &arguments.fields, &events)?;
            (vec![key.name.clone()], arguments.fields.clone())
        }
    };
    for column in fields.iter().map(|field| &field.name).chain([&name]) {
        check_sql_name(column)?;
    }
    let column = |field: &Field| {
        let mark = if key.contains(&field.name) {
            "#[key]\n    "
        } else {
            ""
        };
        format!("{mark}{}", field.declaration())
    };
    let columns: Vec<_> = fields.iter().map(column).collect();
    let each = arguments.each.as_ref().map(FieldName::as_str);
    let functions = generate_event_functions(&events, &fields, each);
    let sentence = format!("decide what each event changes in {model}, and compare `rows`");
    let text = source_template::fill_template(
        TEMPLATE,
        &[
            ("model", model),
            ("imports", &imports_of(&events)?),
            ("summary", &arguments.name.to_doc_sentence()),
            (
                "attribute",
                &source_parts::attribute("read_model", &attribute),
            ),
            ("fields", &source_parts::struct_body(&columns)),
            ("functions", &functions.join("\n")),
            ("panic", &source_parts::panic_line(&sentence)),
        ],
    );
    Ok(NewModule { name, text })
}

/// The most fields of a key.
const MAX_KEY_FIELDS: usize = 4;

/// Returns the names of the fields of a key that the subject contains.
fn key_of_subject(
    subject: &SubjectTemplate,
    fields: &[Field],
    events: &[(&TypeName, &DeclaredType)],
) -> Result<Vec<String>, ToolError> {
    let (key, text) = (subject.field_names(), subject.as_str());
    if key.is_empty() {
        return Err(ToolError::new(format!(
            "the subject {text} has no field that could be the key of a row, as in `/books/{{id}}`"
        )));
    }
    if key.len() > MAX_KEY_FIELDS {
        return Err(ToolError::new(format!(
            "the subject {text} has more fields than a key can have, which are {MAX_KEY_FIELDS}"
        )));
    }
    for field in fields.iter().filter(|field| key.contains(&field.name)) {
        // The row reads its key from the fields of the first event.
        if let Some((_, first)) = events.first() {
            first.check_field(&field.name, field.field_type)?;
        }
    }
    Ok(key.to_vec())
}

/// Returns the field that is the key of a row for each element of a list.
fn key_of_elements<'a>(
    list: &str,
    fields: &'a [Field],
    events: &[(&TypeName, &DeclaredType)],
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
    for (_, event) in events {
        event.check_field(list, list_type)?;
    }
    Ok(key)
}

/// Fails if an event is known to occur on another subject. Its rows would never see the event, and the application would
/// not start.
fn check_subjects(
    application: &ScaffoldTarget,
    subject: &SubjectTemplate,
    events: &[(&TypeName, &DeclaredType)],
) -> Result<(), ToolError> {
    for (_, event) in events {
        if let Some(own) = application.subject_of(event)
            && !subject.may_match(own)
        {
            return Err(ToolError::new(format!(
                "{} occurs on the subject {own}, and not on {}: write `--subject {own}`",
                event.name,
                subject.as_str()
            )));
        }
    }
    Ok(())
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
