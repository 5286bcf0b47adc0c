//! `cargo es add state`: a state, which handlers take to decide.

use super::{
    event_functions::{find_events, generate_event_functions},
    imports_of,
};
use crate::{
    application::ScaffoldTarget,
    command_line::NewStateArguments,
    error::ToolError,
    field::{check_distinct, declare_fields},
    new_module::NewModule,
};

const TEMPLATE: &str = include_str!("../../templates/add/state.rs");

pub(super) fn generate_state(
    application: &ScaffoldTarget,
    arguments: &NewStateArguments,
) -> Result<NewModule, ToolError> {
    application.check_type_is_new(&arguments.name)?;
    check_distinct(&arguments.fields)?;
    let (paths, fields) = (&arguments.events, &arguments.fields);
    let events = find_events(application, paths)?;
    Ok(NewModule::from_template(
        TEMPLATE,
        &arguments.name,
        &[
            ("imports", imports_of(&events).as_str()),
            ("fields", &declare_fields(fields, |_| None)),
            (
                "functions",
                &generate_event_functions(paths, &events, fields, None),
            ),
        ],
    ))
}
