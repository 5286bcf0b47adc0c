//! `cargo es add state`: a state, which handlers take to decide.

use super::{NewModule, declarations, events_of, generate_event_functions, imports_of};
use crate::{
    application::ScaffoldTarget, command_line::NewStateArguments, error::ToolError,
    field::check_distinct, source_parts, source_template,
};

const TEMPLATE: &str = include_str!("../../templates/add/state.rs");

pub(super) fn generate_state(
    application: &ScaffoldTarget,
    arguments: &NewStateArguments,
) -> Result<NewModule, ToolError> {
    let state = arguments.name.as_str();
    application.check_type_is_new(state)?;
    check_distinct(&arguments.fields)?;
    let events = events_of(application, &arguments.events)?;
    let functions = generate_event_functions(&events, &arguments.fields, None);
    let sentence =
        format!("decide what each event changes in {state}, and compare it with `then_state`");
    let fields = declarations(&arguments.fields);
    let text = source_template::fill_template(
        TEMPLATE,
        &[
            ("state", state),
            ("imports", &imports_of(&events)?),
            ("summary", &arguments.name.to_doc_sentence()),
            ("fields", &source_parts::struct_body(&fields)),
            ("functions", &functions.join("\n")),
            ("panic", &source_parts::panic_line(&sentence)),
        ],
    );
    let name = arguments.name.snake_case();
    Ok(NewModule { name, text })
}
