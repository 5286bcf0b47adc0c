//! `cargo es add schedule`: a reaction that sends a command at the times of a cron expression.

use croner::parser::{CronParser, Seconds, Year};
use jiff::{civil::date, tz::TimeZoneDatabase};

use super::NewModule;
use crate::{
    application::ScaffoldTarget, command_line::NewScheduleArguments, error::ToolError,
    source_parts, source_template,
};

const TEMPLATE: &str = include_str!("../../templates/add/schedule.rs");

pub(super) fn generate_schedule(
    application: &ScaffoldTarget,
    arguments: &NewScheduleArguments,
) -> Result<NewModule, ToolError> {
    let reaction = arguments.name.as_str();
    application.check_type_is_new(reaction)?;
    let command = application.require_command(&arguments.command)?;
    check_times(&arguments.cron)?;
    arguments.zone.as_deref().map_or(Ok(()), check_zone)?;
    let cron = format!("cron = {:?}", arguments.cron);
    let zone = arguments.zone.iter().map(|zone| format!("zone = {zone:?}"));
    let schedule: Vec<_> = [cron].into_iter().chain(zone).collect();
    let output = format!("Option<{}>", command.name);
    let function = arguments.command.stem().snake_case();
    let parameters = ["_: Timestamp".to_owned()];
    let head = source_parts::function_head("fn", &function, &parameters, Some(&output));
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
                &source_parts::imports(vec![command.import_path()?]),
            ),
            ("summary", &arguments.name.to_doc_sentence()),
            ("schedule", &schedule.join(", ")),
            ("function", &head),
            ("panic", &source_parts::panic_line(&sentence)),
        ],
    );
    let name = arguments.name.snake_case();
    Ok(NewModule { name, text })
}

/// Fails unless the cron expression has a next time, as `#[schedule]` does.
fn check_times(cron: &str) -> Result<(), ToolError> {
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    let begin = date(2000, 1, 1).at(0, 0, 0, 0);
    let next = parser.parse(cron);
    let next = next.and_then(|times| times.find_next_occurrence(&begin, true));
    next.map(drop).map_err(|error| {
        let error = error.to_string();
        ToolError::new(format!(
            "`{cron}` is no cron expression that has a next time, such as `0 6 * * *`: {}",
            error.trim_end_matches('.')
        ))
    })
}

fn check_zone(zone: &str) -> Result<(), ToolError> {
    TimeZoneDatabase::bundled()
        .get(zone)
        .map(drop)
        .map_err(|_| {
            ToolError::new(format!(
                "`{zone}` is no name of the IANA time zone database, such as `Europe/Berlin`"
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::check_times;

    #[test]
    fn a_cron_expression_has_five_parts_and_a_next_time() {
        for cron in ["0 6 * * *", "*/5 * * * MON-FRI", "@daily"] {
            assert_eq!(check_times(cron), Ok(()), "{cron}");
        }
        for cron in ["", "0 6 * *", "0 0 6 * * *", "0 6 30 2 *", "61 6 * * *"] {
            let error = check_times(cron).unwrap_err().to_string();
            let start = format!("`{cron}` is no cron expression that has a next time");
            assert!(error.starts_with(&start), "{error}");
        }
    }
}
