//! `cargo es add command`: a command, its event and its handler.

use crate::{
    application::ScaffoldTarget,
    command_line::NewCommandArguments,
    error::ToolError,
    field::{Field, declare_fields, sample_literal},
    new_module::NewModule,
};

const TEMPLATE: &str = include_str!("../../templates/add/command.rs");
const TEST: &str = include_str!("../../templates/add/command_test.rs");

/// Generates a command with a test that fails until somebody has decided.
pub(super) fn generate_command(
    application: &ScaffoldTarget,
    arguments: &NewCommandArguments,
) -> Result<NewModule, ToolError> {
    application.check_type_is_new(&arguments.name)?;
    application.check_type_is_new(&arguments.event)?;
    command_module(arguments, TEST)
}

/// Generates the module of a command, with this template of its last test.
pub(crate) fn command_module(
    arguments: &NewCommandArguments,
    test: &str,
) -> Result<NewModule, ToolError> {
    let fields = arguments.subject.complete_fields(&arguments.fields)?;
    check_unique(&arguments.unique, &fields)?;
    let condition = if arguments.pristine {
        ", condition = pristine"
    } else {
        ""
    };
    // The event claims the unique values.
    let event_fields = declare_fields(&fields, |field| {
        let rule = || unique_rule(arguments, field);
        arguments.unique.contains(&field.name).then(rule)
    });
    Ok(NewModule::from_template(
        TEMPLATE,
        &arguments.name,
        &[
            // The test names the event, too.
            ("test", test),
            ("event", &arguments.event.to_string()),
            ("event summary", &arguments.event.to_doc_sentence()),
            ("subject", &arguments.subject.text),
            ("condition", condition),
            ("fields", &declare_fields(&fields, |_| None)),
            ("event fields", &event_fields),
            ("function", &arguments.name.snake_case()),
            ("sample", &sample_literal(&arguments.name, &fields)),
        ],
    ))
}

/// Fails for a unique field that the command has not. `#[unique]` checks its type.
fn check_unique(unique: &[String], fields: &[Field]) -> Result<(), ToolError> {
    let is_missing = |name: &&String| fields.iter().all(|field| field.name != **name);
    unique.iter().find(is_missing).map_or(Ok(()), |name| {
        Err(ToolError::new(format!(
            "the unique field `{name}` is missing: add `--field {name}:String`"
        )))
    })
}

/// The longest name of a rule about unique values.
const MAX_RULE_LENGTH: usize = 64;

/// Returns the attribute of a field whose values are unique.
fn unique_rule(arguments: &NewCommandArguments, field: &Field) -> String {
    let name = format!("{}-{}", arguments.subject.first_segment(), field.name);
    let kebab_name = name.to_lowercase().replace('_', "-");
    let rule = kebab_name.get(..MAX_RULE_LENGTH).unwrap_or(&kebab_name);
    format!("#[unique(\"{rule}\")]")
}
