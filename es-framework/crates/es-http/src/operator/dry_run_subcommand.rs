//! The subcommand `dry-run` of every application. It asks the application that runs what a command would do.

use std::io::{self, Read as _};

use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _};
use es_event::{Error, EventId, Result};
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::{client::OperatorArguments, dry_run, dry_runner};

/// The name of the subcommand.
pub(super) const NAME: &str = "dry-run";

const COMMAND: &str = "command";
const BODY: &str = "json";
const FORMAT: &str = "format";

/// The longest command that is read from the standard input, in bytes.
const MAX_BODY: u64 = 16 * 1024 * 1024;

/// Returns the subcommand for the application's command line.
pub(super) fn clap_command() -> Command {
    let name = Arg::new(COMMAND)
        .value_name("COMMAND")
        .required(true)
        .help("Name of the command's type, such as BorrowBookCommand");
    let body = Arg::new(BODY).value_name("JSON").help(
        "The command as a JSON object with all its members. Without it, standard input is read",
    );
    let at = Arg::new(dry_runner::AT)
        .long(dry_runner::AT)
        .value_name("EVENT_ID")
        .value_parser(clap::value_parser!(EventId))
        .help("Decide as of this event instead of now");
    let role = Arg::new(dry_runner::ROLE)
        .long(dry_runner::ROLE)
        .value_name("ROLE")
        .action(ArgAction::Append)
        .help("Decide for a caller with this role; repeat it for several");
    let owner = Arg::new(dry_runner::OWNER)
        .long(dry_runner::OWNER)
        .value_name("OWNER_ID")
        .help("Decide for a caller with this owner id");
    let format = Arg::new(FORMAT)
        .long(FORMAT)
        .value_parser(["text", "json"])
        .default_value("text")
        .help("As lines for people, or as the response of the application");
    // `about` comes after `augment_args`, which would replace it.
    OperatorArguments::augment_args(Command::new(NAME))
        .about("Shows the events or the rejection that a command would lead to in the running application, and writes nothing")
        .arg(name)
        .arg(body)
        .arg(at)
        .arg(role)
        .arg(owner)
        .arg(format)
}

/// Sends the request of the subcommand, and returns the text to print.
pub(super) async fn send_and_render(matches: &ArgMatches) -> Result<String> {
    let api = OperatorArguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    let text = |name| matches.get_one::<String>(name).map(String::as_str);
    let name = text(COMMAND).unwrap_or_default();
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    if !name.chars().all(is_name) {
        return Err(Error::new(
            "the name of a command consists of letters, digits and underscores",
        ));
    }
    let body = match text(BODY) {
        Some(body) => body.as_bytes().to_vec(),
        None => read_standard_input()?,
    };
    let mut path = dry_run::PATH.replace("{name}", name);
    let at = matches.get_one::<EventId>(dry_runner::AT);
    let at = at.map(|at| (dry_runner::AT, at.to_string()));
    let roles = matches.get_many::<String>(dry_runner::ROLE);
    let roles = roles.into_iter().flatten().cloned();
    let owner = text(dry_runner::OWNER).map(|owner| (dry_runner::OWNER, owner.to_owned()));
    let pairs = at.into_iter().chain(owner);
    let pairs: Vec<_> = pairs
        .chain(roles.map(|role| (dry_runner::ROLE, role)))
        .collect();
    let query = serde_urlencoded::to_string(pairs)
        .map_err(|error| Error::because("the address cannot be written", error))?;
    if !query.is_empty() {
        path = format!("{path}?{query}");
    }
    let response = api.send_body(Method::POST, &path, Some(body)).await?;
    if text(FORMAT) == Some("json") {
        return Ok(format!("{response:#}\n"));
    }
    let result = DryRunResult::deserialize(&response);
    let result = result.map_err(|error| {
        Error::because("the response of the application has an unknown form", error)
    })?;
    Ok(result.text())
}

fn read_standard_input() -> Result<Vec<u8>> {
    let mut body = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_BODY)
        .read_to_end(&mut body)
        .map_err(|error| Error::because("cannot read the command from standard input", error))?;
    Ok(body)
}

/// The response of the application.
#[derive(Debug, Deserialize)]
struct DryRunResult {
    command: String,
    at: Option<String>,
    events: Vec<DryRunEvent>,
    reply: Option<Value>,
    problem: Option<CommandProblem>,
}

/// An event that the command would append.
#[derive(Debug, Deserialize)]
struct DryRunEvent {
    subject: String,
    r#type: String,
    data: Value,
}

/// The problem that the sender of the command would get.
#[derive(Debug, Deserialize)]
struct CommandProblem {
    status: u16,
    title: String,
    detail: String,
    #[serde(default)]
    errors: Vec<InvalidCommandValue>,
}

/// A value of the command that is not valid.
#[derive(Debug, Deserialize)]
struct InvalidCommandValue {
    pointer: String,
    message: String,
}

impl DryRunResult {
    /// Returns a line for the decision, and one for each event or violation.
    fn text(&self) -> String {
        let at = match &self.at {
            Some(at) => format!("as of event {at}"),
            None => "without any event".to_owned(),
        };
        let name = &self.command;
        let Some(problem) = &self.problem else {
            let count = match self.events.len() {
                0 => "and append nothing".to_owned(),
                1 => "and append 1 event".to_owned(),
                count => format!("and append {count} events"),
            };
            let mut text = format!("{name} would be accepted {at}, {count}\n");
            for event in &self.events {
                let DryRunEvent {
                    subject,
                    r#type,
                    data,
                } = event;
                text.push_str(&format!("  {type} on {subject}\n    {data}\n"));
            }
            if let Some(reply) = &self.reply {
                text.push_str(&format!("  reply {reply}\n"));
            }
            return text;
        };
        let CommandProblem {
            status,
            title,
            detail,
            errors,
        } = problem;
        let mut text = format!("{name} would be rejected {at}, {status} {title}: {detail}\n");
        for InvalidCommandValue { pointer, message } in errors {
            text.push_str(&format!("  {pointer} {message}\n"));
        }
        text
    }
}
