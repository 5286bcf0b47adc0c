//! `cargo es add event`: an event with a subject of its own.

use crate::{
    application::ScaffoldTarget, command_line::NewEventArguments, error::ToolError,
    field::declare_fields, new_module::NewModule,
};

const TEMPLATE: &str = include_str!("../../templates/add/event.rs");

pub(super) fn generate_event(
    application: &ScaffoldTarget,
    arguments: &NewEventArguments,
) -> Result<NewModule, ToolError> {
    application.check_type_is_new(&arguments.name)?;
    let fields = arguments.subject.complete_fields(&arguments.fields)?;
    Ok(NewModule::from_template(
        TEMPLATE,
        &arguments.name,
        &[
            ("subject", arguments.subject.text.as_str()),
            ("fields", &declare_fields(&fields, |_| None)),
        ],
    ))
}
