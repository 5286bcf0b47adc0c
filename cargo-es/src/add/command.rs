//! `cargo es add command`: a command, its event and its handler.

use super::{NewModule, declarations};
use crate::{
    application::ScaffoldTarget, command_line::NewCommandArguments, error::ToolError, field::Field,
    source_parts, source_template,
};

const TEMPLATE: &str = include_str!("../../templates/add/command.rs");

/// Generates a command with a test that fails until somebody has decided.
pub(super) fn generate_command(
    application: &ScaffoldTarget,
    arguments: &NewCommandArguments,
) -> Result<NewModule, ToolError> {
    let command = arguments.name.type_name();
    application.check_type_is_new(&command)?;
    application.check_type_is_new(&arguments.event.type_name())?;
    let sentence =
        format!("decide when {command} is rejected, and write a scenario for each reason");
    let panic = source_parts::panic_line(&sentence);
    let test = format!(
        "    #[test]\n    fn every_reason_for_a_rejection_has_a_scenario() {{\n{panic}\n    }}\n"
    );
    command_module(arguments, &test)
}

/// Generates the module of a command, with this last test.
pub(crate) fn command_module(
    arguments: &NewCommandArguments,
    test: &str,
) -> Result<NewModule, ToolError> {
    let (command, event) = (arguments.name.type_name(), arguments.event.type_name());
    let fields = arguments.subject.complete_fields(&arguments.fields)?;
    let event_fields = event_fields(arguments, &fields)?;
    let mut attribute = vec![format!("subject = \"{}\"", arguments.subject.as_str())];
    if arguments.pristine {
        attribute.push("condition = pristine".to_owned());
    }
    let name = arguments.name.stem().snake_case();
    let head =
        source_parts::function_head("fn", &name, &[format!("command: {command}")], Some(&event));
    let samples = fields
        .iter()
        .map(|field| (field.name.clone(), field.field_type.sample_expression()));
    let sample = source_parts::struct_literal(&command, &samples.collect::<Vec<_>>());
    let text = source_template::fill_template(
        TEMPLATE,
        &[
            ("command", &command),
            ("event", &event),
            ("command summary", &arguments.name.stem().to_doc_sentence()),
            ("event summary", &arguments.event.stem().to_doc_sentence()),
            ("attribute", &source_parts::attribute("command", &attribute)),
            ("fields", &source_parts::struct_body(&declarations(&fields))),
            ("event fields", &source_parts::struct_body(&event_fields)),
            ("handler", &head),
            ("sample", &sample),
            ("test", test),
        ],
    );
    Ok(NewModule { name, text })
}

/// The longest name of a rule about unique values.
const MAX_RULE_LENGTH: usize = 64;

/// Returns the fields of the event. It claims the unique values.
fn event_fields(
    arguments: &NewCommandArguments,
    fields: &[Field],
) -> Result<Vec<String>, ToolError> {
    for name in &arguments.unique {
        let name = name.as_str();
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            return Err(ToolError::new(format!(
                "the unique field `{name}` is missing: add `--field {name}:String`"
            )));
        };
        if !field.field_type.without_option().can_fill_subject() {
            let text = field.field_type.to_rust_type();
            return Err(ToolError::new(format!(
                "`{name}` cannot be unique, since it is a {text}: make it a String, an integer, a Uuid or an Option of one of them"
            )));
        }
    }
    let declaration = |field: &Field| {
        if !arguments
            .unique
            .iter()
            .any(|name| name.as_str() == field.name)
        {
            return field.declaration();
        }
        let rule = format!("{}-{}", arguments.subject.first_segment(), field.name);
        let rule = rule.to_lowercase().replace('_', "-");
        let rule = rule.get(..MAX_RULE_LENGTH).unwrap_or(&rule);
        format!("#[unique(\"{rule}\")]\n    {}", field.declaration())
    };
    Ok(fields.iter().map(declaration).collect())
}
