//! `cargo es add schedule`: a reaction that sends a command at the times of a cron expression.

use super::NewModule;
use crate::{
    application::ScaffoldTarget, command_line::NewScheduleArguments, error::ToolError,
    rustfmt_layout, source_template,
};

const TEMPLATE: &str = include_str!("../../templates/add/schedule.rs");

pub(super) fn generate_schedule(
    application: &ScaffoldTarget,
    arguments: &NewScheduleArguments,
) -> Result<NewModule, ToolError> {
    let reaction = arguments.name.as_str();
    application.check_type_is_new(reaction)?;
    let command = application.require_command(&arguments.command)?;
    let cron = format!("cron = {:?}", arguments.cron);
    let zone = arguments.zone.iter().map(|zone| format!("zone = {zone:?}"));
    let schedule: Vec<_> = [cron].into_iter().chain(zone).collect();
    let output = format!("Option<{}>", command.name);
    let function = arguments.command.stem().snake_case();
    let parameters = ["_: Timestamp".to_owned()];
    let head = rustfmt_layout::function_head(4, "fn", &function, &parameters, Some(&output));
    let sentence = format!(
        "decide when {reaction} sends {}, and compare it with `advance` and `then_sent`",
        command.name
    );
    let text = source_template::fill_template(
        TEMPLATE,
        &[
            ("reaction", reaction),
            (
                "imports",
                &rustfmt_layout::imports(vec![command.path.clone()]),
            ),
            ("summary", &arguments.name.to_doc_sentence()),
            ("schedule", &schedule.join(", ")),
            ("function", &head),
            ("panic", &rustfmt_layout::panic_line(&sentence)),
        ],
    );
    let name = arguments.name.snake_case();
    Ok(NewModule { name, text })
}
