//! `cargo es add read-model`: a read model and its projection.

use super::{NewModule, events_of, generate_event_functions, import_paths};
use crate::{
    application::ScaffoldTarget, command_line::NewReadModelArguments, error::ToolError,
    field::Field, rustfmt_layout, source_template,
};

const TEMPLATE: &str = include_str!("../../templates/add/read_model.rs");

pub(super) fn generate_read_model(
    application: &ScaffoldTarget,
    arguments: &NewReadModelArguments,
) -> Result<NewModule, ToolError> {
    let (name, model) = (arguments.name.snake_case(), arguments.name.as_str());
    application.check_type_is_new(model)?;
    let subject = arguments.subject.as_str();
    let Some(key) = arguments.subject.find_key_field() else {
        return Err(ToolError::new(format!(
            "the subject {subject} has no field that could be the key of a row, as in `/books/{{id}}`"
        )));
    };
    let fields = arguments.subject.complete_fields(&arguments.fields)?;
    let events = events_of(application, &arguments.events)?;
    let key_field = fields.iter().find(|field| field.name == key);
    if let (Some(field), Some((_, first))) = (key_field, events.first()) {
        // The row reads its key from this field of the first event.
        first.check_field(key, field.field_type)?;
    }
    let attribute = [
        format!("table = \"{}\"", plural(&name)),
        format!("subject = \"{subject}\""),
    ];
    let column = |field: &Field| {
        let mark = if field.name == key {
            "#[key]\n    "
        } else {
            ""
        };
        format!("{mark}{}", field.declaration())
    };
    let columns: Vec<_> = fields.iter().map(column).collect();
    let functions = generate_event_functions(&events, &fields);
    let sentence = format!("decide what each event changes in {model}, and compare `rows`");
    let text = source_template::fill_template(
        TEMPLATE,
        &[
            ("model", model),
            ("imports", &import_paths(&events)),
            ("summary", &arguments.name.to_doc_sentence()),
            (
                "attribute",
                &rustfmt_layout::attribute("read_model", &attribute),
            ),
            ("fields", &rustfmt_layout::struct_body(&columns)),
            ("functions", &functions.join("\n")),
            ("panic", &rustfmt_layout::panic_line(&sentence)),
        ],
    );
    Ok(NewModule { name, text })
}

/// Returns the name of a table: the plural of most nouns.
fn plural(noun: &str) -> String {
    let ends_in_vowel_and_y = ["ay", "ey", "oy", "uy"]
        .iter()
        .any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(stem) if !ends_in_vowel_and_y => format!("{stem}ies"),
        _ if ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn a_table_is_named_with_the_plural() {
        let nouns = ["book_copy", "day", "box", "loan"];
        assert_eq!(nouns.map(plural), ["book_copies", "days", "boxes", "loans"]);
    }
}
