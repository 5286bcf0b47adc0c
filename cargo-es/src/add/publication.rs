//! `cargo es add public-event` and `cargo es add publication`: what other systems are told, and after which event.

use super::imports_of;
use crate::{
    application::ScaffoldTarget,
    command_line::{NewPublicEventArguments, NewPublicationArguments},
    error::ToolError,
    field::{check_distinct, declare_fields},
    new_module::NewModule,
};

const PUBLIC_EVENT: &str = include_str!("../../templates/add/public_event.rs");
const PUBLICATION: &str = include_str!("../../templates/add/publication.rs");

pub(super) fn generate_public_event(
    application: &ScaffoldTarget,
    arguments: &NewPublicEventArguments,
) -> Result<NewModule, ToolError> {
    application.check_type_is_new(&arguments.name)?;
    check_distinct(&arguments.fields)?;
    let fields = declare_fields(&arguments.fields, |_| None);
    let values = [("fields", fields.as_str())];
    Ok(NewModule::from_template(
        PUBLIC_EVENT,
        &arguments.name,
        &values,
    ))
}

pub(super) fn generate_publication(
    application: &ScaffoldTarget,
    arguments: &NewPublicationArguments,
) -> Result<NewModule, ToolError> {
    let event = application.require("event", &arguments.event)?;
    let public_event = application.require("public event", &arguments.public_event)?;
    Ok(NewModule::from_template(
        PUBLICATION,
        &arguments.name,
        &[
            ("imports", imports_of(&[event, public_event]).as_str()),
            ("event", &event.name),
            ("public event", &public_event.name),
            ("function", &arguments.name.snake_case()),
        ],
    ))
}
