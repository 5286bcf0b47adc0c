//! `cargo es add command`: a command, its event and its handler.

use super::{NewModule, declarations};
use crate::{
    application::ScaffoldTarget, command_line::NewCommandArguments, error::ToolError,
    rustfmt_layout, source_template,
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
    let panic = rustfmt_layout::panic_line(&sentence);
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
    let mut attribute = vec![format!("subject = \"{}\"", arguments.subject.as_str())];
    if arguments.pristine {
        attribute.push("condition = pristine".to_owned());
    }
    let name = arguments.name.stem().snake_case();
    let head = rustfmt_layout::function_head(
        0,
        "fn",
        &name,
        &[format!("command: {command}")],
        Some(&event),
    );
    let samples = fields
        .iter()
        .map(|field| (field.name.clone(), field.field_type.sample_expression()));
    let sample = rustfmt_layout::struct_literal(8, &command, &samples.collect::<Vec<_>>());
    let text = source_template::fill_template(
        TEMPLATE,
        &[
            ("command", &command),
            ("event", &event),
            ("command summary", &arguments.name.stem().to_doc_sentence()),
            ("event summary", &arguments.event.stem().to_doc_sentence()),
            (
                "attribute",
                &rustfmt_layout::attribute("command", &attribute),
            ),
            (
                "fields",
                &rustfmt_layout::struct_body(&declarations(&fields)),
            ),
            ("handler", &head),
            ("sample", &sample),
            ("test", test),
        ],
    );
    Ok(NewModule { name, text })
}
