//! `cargo es add reaction`: a reaction, which sends a command or calls another system after an event.

use super::NewModule;
use crate::{
    application::ScaffoldTarget, command_line::NewReactionArguments, error::ToolError,
    source_parts, source_template,
};

const TEMPLATE: &str = include_str!("../../templates/add/reaction.rs");

pub(super) fn generate_reaction(
    application: &ScaffoldTarget,
    arguments: &NewReactionArguments,
) -> Result<NewModule, ToolError> {
    let reaction = arguments.name.as_str();
    application.check_type_is_new(reaction)?;
    let event = application.require_event(&arguments.event)?;
    let function = arguments.event.stem().snake_case();
    let mut imports = vec![event.import_path()?];
    let event_parameter = format!("_: &{}", event.name);
    let (head, others) = match &arguments.command {
        Some(command) => {
            let command = application.require_command(command)?;
            imports.push(command.import_path()?);
            let output = format!("Option<{}>", command.name);
            let sentence = format!(
                "decide when {reaction} sends {}, and compare it with `then_sent`",
                command.name
            );
            let head =
                source_parts::function_head("fn", &function, &[event_parameter], Some(&output));
            let test = "the_reaction_sends_its_command";
            (head, ["", "None", test, &sentence].map(str::to_owned))
        }
        None => {
            let parameters = [
                event_parameter,
                "_recorded: &RecordedEvent".to_owned(),
                "_key: &ReactionKey".to_owned(),
            ];
            let output = Some("Result<(), std::io::Error>");
            let head = source_parts::function_head("async fn", &function, &parameters, output);
            let sentence = format!(
                "decide which system {reaction} calls, and pass the key on as an idempotency key"
            );
            // Clients have had their answers to the events of the past.
            let (arguments, test) = ("(begin = new)", "the_reaction_calls_the_other_system");
            (
                head,
                [arguments, "Ok(())", test, &sentence].map(str::to_owned),
            )
        }
    };
    let [attribute, result, test, sentence] = others;
    let text = source_template::fill_template(
        TEMPLATE,
        &[
            ("reaction", reaction),
            ("imports", &source_parts::imports(imports)),
            ("summary", &arguments.name.to_doc_sentence()),
            ("arguments", &attribute),
            ("function", &head),
            ("result", &result),
            ("test", &test),
            ("panic", &source_parts::panic_line(&sentence)),
        ],
    );
    let name = arguments.name.snake_case();
    Ok(NewModule { name, text })
}
