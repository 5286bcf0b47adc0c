//! The subcommands `projection` and `reaction` of every application. They send commands to the
//! application that runs.

use clap::{Arg, ArgMatches, Args as _, Command, FromArgMatches as _};
use es_event::Result;
use es_subscribe::operator::{ComponentKind, OperatorCommand};
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::{
    client::OperatorArguments,
    component::{COMPONENTS, OperatorInterface as _},
    event_selection_arguments, personal_subcommand,
    text_output::print_text,
    unique_subcommand,
};

const STATUS: &str = "status";

/// Returns the subcommands of operators, for the application's command line.
#[doc(hidden)]
pub fn clap_subcommands() -> impl Iterator<Item = Command> {
    COMPONENTS.into_iter().map(component_subcommand).chain([
        personal_subcommand::clap_command(),
        unique_subcommand::clap_command(),
    ])
}

fn component_subcommand(component: ComponentKind) -> Command {
    let (about, status) = match component {
        ComponentKind::ReadModel => (
            "Shows and repairs the read models of the running application",
            "Shows the position of each read model, its rebuild, the rows that it holds, and the event that stopped it",
        ),
        ComponentKind::Reaction => (
            "Shows and repairs the reactions of the running application",
            "Shows the position of each reaction, its deadlines, the subjects that it holds, and the event that stopped it",
        ),
    };
    let command = Command::new(component.subcommand());
    // `about` comes after `augment_args`, which would replace it.
    let command = OperatorArguments::augment_args(command)
        .about(about)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new(STATUS).about(status));
    component.commands().iter().fold(command, |command, one| {
        let name = Arg::new("name")
            .value_name("NAME")
            .required(true)
            .help(format!("Name of the {component}"));
        let about = component.description(*one).trim_end_matches('.');
        let subcommand = Command::new(one.verb()).about(about).arg(name);
        command.subcommand(match one {
            OperatorCommand::Rebuild => subcommand,
            OperatorCommand::Retry | OperatorCommand::Skip => {
                event_selection_arguments::add_arguments(subcommand)
            }
        })
    })
}

/// Runs the subcommand of this name, if it is one of an operator.
#[doc(hidden)]
pub fn run_operator_subcommand(name: &str, matches: &ArgMatches) -> Option<Result<()>> {
    if name == personal_subcommand::NAME {
        return Some(personal_subcommand::run(matches));
    }
    if name == unique_subcommand::NAME {
        return Some(print_text(unique_subcommand::send_and_render(matches)));
    }
    let component = COMPONENTS
        .into_iter()
        .find(|component| component.subcommand() == name)?;
    let api = OperatorArguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    Some(print_text(execute(component, &api, matches)))
}

/// Sends the request of the subcommand, and returns the text to print.
async fn execute(
    component: ComponentKind,
    api: &OperatorArguments,
    matches: &ArgMatches,
) -> Result<String> {
    let path = component.path();
    let Some((verb, matches)) = matches.subcommand().filter(|(verb, _)| *verb != STATUS) else {
        let all = api.send_request(Method::GET, path).await?;
        let all = all.as_object().into_iter().flatten();
        return Ok(all
            .map(|(name, status)| status_text(name, status))
            .collect());
    };
    let name = matches.get_one::<String>("name");
    let name = name.map(String::as_str).unwrap_or_default();
    let query = match verb {
        "rebuild" => String::new(),
        _ => event_selection_arguments::to_query(matches)?,
    };
    let path = format!("{path}/{name}/{verb}{query}");
    let response = api.send_request(Method::POST, &path).await?;
    let mut commands = component.commands().iter();
    let result = commands.find(|command| command.verb() == verb);
    let result = result.map_or("", |command| result_text(component, *command));
    let result = if query.is_empty() {
        result
    } else {
        "has new rules for the events that it skips"
    };
    let (event, held) = (event_text(&response), held_text(&response));
    Ok(format!("{name} {result}{event}{held}\n"))
}

const fn result_text(component: ComponentKind, command: OperatorCommand) -> &'static str {
    match (component, command) {
        (ComponentKind::ReadModel, OperatorCommand::Rebuild) => {
            "is being rebuilt; `status` shows the progress"
        }
        (ComponentKind::Reaction, OperatorCommand::Rebuild) => "begins as at its first start",
        (_, OperatorCommand::Retry) => "tries again",
        (ComponentKind::ReadModel, OperatorCommand::Skip) => "skips the event from now on",
        (ComponentKind::Reaction, OperatorCommand::Skip) => "skips the actions that failed",
    }
}

/// Returns the number of held keys that a command has released.
fn held_text(response: &Value) -> String {
    let number = |name: &str| response.get(name).and_then(Value::as_u64);
    match (number("retriedKeys"), number("releasedKeys")) {
        (Some(retried @ 1..), Some(released)) => {
            format!("; {released} of {retried} held keys go on")
        }
        _ => String::new(),
    }
}

/// Returns the event of a response, in brackets.
fn event_text(response: &Value) -> String {
    let member = |name: &str| response.get("event")?.get(name)?.as_str();
    match (member("id"), member("subject")) {
        (Some(id), Some(subject)) => format!(" (event {id} on {subject})"),
        (Some(id), None) => format!(" (event {id})"),
        (None, _) => String::new(),
    }
}

/// The status of a read model or a reaction in the response of the application.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ComponentStatus {
    position: Option<String>,
    events_behind: u64,
    open_deadlines: Option<u64>,
    next_deadline: Option<String>,
    state: String,
    since: Option<String>,
    error: Option<String>,
    event: Option<PoisonEventStatus>,
    held: HeldKeysStatus,
    exits: Vec<String>,
    rebuild: Option<RebuildStatus>,
}

/// The event that stopped a component in the response of the application.
#[derive(Debug, Deserialize)]
struct PoisonEventStatus {
    r#type: Option<String>,
    fingerprint: String,
}

/// The held keys of a component in the response of the application.
#[derive(Debug, Deserialize)]
struct HeldKeysStatus {
    keys: u64,
    failures: Vec<HeldKeyFailure>,
}

/// The held keys whose events fail alike.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeldKeyFailure {
    fingerprint: String,
    error: String,
    r#type: Option<String>,
    event: String,
    subject: Option<String>,
    keys: u64,
    some_keys: Vec<String>,
    events: u64,
    first: String,
    last: String,
    next_attempt: Option<String>,
}

/// The progress of a rebuild in the response of the operator API.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RebuildStatus {
    beside: bool,
    events_left: Option<u64>,
    events_per_second: Option<u64>,
    seconds_left: Option<u64>,
    error: Option<String>,
}

/// Returns a line for the position of a component, and one for each thing that is not normal.
fn status_text(name: &str, status: &Value) -> String {
    let Ok(status) = ComponentStatus::deserialize(status) else {
        return format!("{name}: unknown\n");
    };
    let position = match status.position {
        Some(position) => format!("at event {position}"),
        None => "at no event".to_owned(),
    };
    let mut text = format!("{name}: {position}, {} behind\n", status.events_behind);
    if let Some((open, next)) = status.open_deadlines.zip(status.next_deadline) {
        text.push_str(&format!("  {open} open deadlines, the next at {next}\n"));
    }
    if let Some((error, since)) = status.error.zip(status.since) {
        let (state, exits) = (status.state, status.exits.join(", "));
        text.push_str(&format!("  {error}\n"));
        if let Some(event) = status.event {
            let event_type = event.r#type.unwrap_or_else(|| "unknown".to_owned());
            text.push_str(&format!(
                "  type {event_type}, fingerprint {}\n",
                event.fingerprint
            ));
        }
        text.push_str(&format!("  {state} since {since}; what helps: {exits}\n"));
    }
    text.push_str(&status.held.text());
    if let Some(rebuild) = status.rebuild {
        text.push_str(&format!("  {}\n", rebuild.text()));
    }
    text
}

impl HeldKeysStatus {
    /// Returns some lines for each failure.
    fn text(&self) -> String {
        if self.keys == 0 {
            return String::new();
        }
        let mut text = format!("  holds {} keys; what helps: retry, skip\n", self.keys);
        for failure in &self.failures {
            let HeldKeyFailure {
                fingerprint,
                error,
                event,
                keys,
                events,
                first,
                last,
                ..
            } = failure;
            let subject = failure.subject.as_ref();
            let subject = subject.map(|subject| format!(" on {subject}"));
            let event_type = failure.r#type.as_deref().unwrap_or("unknown");
            let more = if failure.some_keys.len() < usize::try_from(*keys).unwrap_or(usize::MAX) {
                ", …"
            } else {
                ""
            };
            text.push_str(&format!(
                "  {keys} keys with {events} events from {first} to {last}: event {event}{}: {error}\n    \
                 type {event_type}, fingerprint {fingerprint}\n    keys {}{more}\n",
                subject.unwrap_or_default(),
                failure.some_keys.join(", "),
            ));
            if let Some(next) = &failure.next_attempt {
                text.push_str(&format!("    the next attempt is at {next}\n"));
            }
        }
        text
    }
}

impl RebuildStatus {
    fn text(&self) -> String {
        let way = if self.beside {
            "in a shadow table: queries read the current rows"
        } else {
            "in place: queries wait"
        };
        let number = |number: Option<u64>| number.map_or("?".to_owned(), |one| one.to_string());
        match &self.error {
            Some(error) => format!("rebuilt {way}: {error}"),
            None => format!(
                "rebuilt {way}: {} events left, {} events/s, {} s",
                number(self.events_left),
                number(self.events_per_second),
                number(self.seconds_left),
            ),
        }
    }
}
