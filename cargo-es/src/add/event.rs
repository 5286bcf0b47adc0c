//! `cargo es add event`: an event with a subject of its own.

use super::{NewModule, declarations};
use crate::{
    application::ScaffoldTarget, command_line::NewEventArguments, error::ToolError, source_parts,
    source_template,
};

const TEMPLATE: &str = include_str!("../../templates/add/event.rs");

pub(super) fn generate_event(
    application: &ScaffoldTarget,
    arguments: &NewEventArguments,
) -> Result<NewModule, ToolError> {
    let event = arguments.name.type_name();
    application.check_type_is_new(&event)?;
    let fields = arguments.subject.complete_fields(&arguments.fields)?;
    let attribute = [format!("subject = \"{}\"", arguments.subject.as_str())];
    let sentence = format!("decide which handler records {event}, and write its scenario");
    let text = source_template::fill_template(
        TEMPLATE,
        &[
            ("event", &event),
            ("summary", &arguments.name.stem().to_doc_sentence()),
            ("attribute", &source_parts::attribute("event", &attribute)),
            ("fields", &source_parts::struct_body(&declarations(&fields))),
            ("panic", &source_parts::panic_line(&sentence)),
        ],
    );
    let name = arguments.name.stem().snake_case();
    Ok(NewModule { name, text })
}
