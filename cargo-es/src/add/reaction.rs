//! `cargo es add reaction`: a reaction, which sends a command after an event.

use super::NewModule;
use crate::{
    application::ScaffoldTarget, command_line::NewReactionArguments, error::ToolError,
    rustfmt_layout, source_template,
};

const TEMPLATE: &str = include_str!("../../templates/add/reaction.rs");

pub(super) fn generate_reaction(
    application: &ScaffoldTarget,
    arguments: &NewReactionArguments,
) -> Result<NewModule, ToolError> {
    let reaction = arguments.name.as_str();
    application.check_type_is_new(reaction)?;
    let event = application.require_event(&arguments.event)?;
    let command = application.require_command(&arguments.command)?;
    let head = rustfmt_layout::function_head(
        4,
        &arguments.event.stem().snake_case(),
        &[format!("_: &{}", event.name)],
        Some(&format!("Option<{}>", command.name)),
    );
    let sentence = format!(
        "decide when {reaction} sends {}, and compare it with `then_sent`",
        command.name
    );
    let text = source_template::fill_template(
        TEMPLATE,
        &[
            ("reaction", reaction),
            (
                "imports",
                &rustfmt_layout::imports(vec![event.path.clone(), command.path.clone()]),
            ),
            ("summary", &arguments.name.to_doc_sentence()),
            ("function", &head),
            ("panic", &rustfmt_layout::panic_line(&sentence)),
        ],
    );
    let name = arguments.name.snake_case();
    Ok(NewModule { name, text })
}
