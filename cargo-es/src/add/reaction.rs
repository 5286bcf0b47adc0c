//! `cargo es add reaction` and `cargo es add schedule`: a reaction, which sends a command or calls another system after an
//! event, or sends a command at the times of a cron expression.

use super::imports_of;
use crate::{
    application::ScaffoldTarget,
    command_line::{NewReactionArguments, NewScheduleArguments},
    error::ToolError,
    new_module::NewModule,
};

const REACTION: &str = include_str!("../../templates/add/reaction.rs");
// Such a reaction begins with new events, because clients have had their answers to those of the past.
const EXTERNAL_CALL: &str = include_str!("../../templates/add/external_call.rs");
const SCHEDULE: &str = include_str!("../../templates/add/schedule.rs");

pub(super) fn generate_reaction(
    application: &ScaffoldTarget,
    arguments: &NewReactionArguments,
) -> Result<NewModule, ToolError> {
    application.check_type_is_new(&arguments.name)?;
    let event = application.require("event", &arguments.event)?;
    let require_command = |path| application.require("command", path);
    let command = arguments
        .command
        .as_ref()
        .map(require_command)
        .transpose()?;
    let imports: Vec<_> = [event].into_iter().chain(command).collect();
    let template = command.map_or(EXTERNAL_CALL, |_| REACTION);
    Ok(NewModule::from_template(
        template,
        &arguments.name,
        &[
            ("imports", imports_of(&imports).as_str()),
            ("event", &event.name),
            ("command", command.map_or("", |command| &command.name)),
            ("function", &arguments.event.name().snake_case()),
        ],
    ))
}

/// Generates a schedule. `#[schedule]` checks its times and its zone.
pub(super) fn generate_schedule(
    application: &ScaffoldTarget,
    arguments: &NewScheduleArguments,
) -> Result<NewModule, ToolError> {
    application.check_type_is_new(&arguments.name)?;
    let command = application.require("command", &arguments.command)?;
    let zone = arguments
        .zone
        .as_ref()
        .map(|zone| format!(", zone = {zone:?}"));
    Ok(NewModule::from_template(
        SCHEDULE,
        &arguments.name,
        &[
            ("imports", imports_of(&[command]).as_str()),
            ("cron", &format!("{:?}", arguments.cron)),
            ("zone", &zone.unwrap_or_default()),
            ("command", &command.name),
            ("function", &arguments.command.name().snake_case()),
        ],
    ))
}
