//! The subcommand `unique` of every application. It claims the unique values of events that are older than their rules,
//! in the application that runs.

use std::io::{self, Write as _};

use clap::{Arg, ArgMatches, Args as _, Command, FromArgMatches as _, value_parser};
use es_event::{Error, EventId, Result, foreign_text::escape_for_terminal};
use reqwest::Method;
use serde::Deserialize;

use super::{client::OperatorArguments, unique_values::PATH};

pub(super) const NAME: &str = "unique";

const CLAIM: &str = "claim";
const AFTER: &str = "after";
const UNTIL: &str = "until";

pub(super) fn clap_command() -> Command {
    let after = Arg::new(AFTER)
        .long(AFTER)
        .value_name("EVENT")
        .value_parser(value_parser!(EventId))
        .help("Id of the event after which an interrupted run goes on");
    OperatorArguments::augment_args(Command::new(NAME))
        .about("Claims the unique values of events that are older than their rules, in the running application")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new(CLAIM)
                .about("Claims the values of all events in their order, and lists those that two subjects have")
                .arg(after),
        )
}

/// The answer of the application to a step.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaimAnswer {
    last: Option<EventId>,
    until: Option<EventId>,
    is_complete: bool,
    claimed: u64,
    duplicates: Vec<DuplicateAnswer>,
}

#[derive(Debug, Deserialize)]
struct DuplicateAnswer {
    rule: String,
    member: String,
    event: EventId,
    subject: String,
}

/// Prints the duplicates of each step at once, so that an interruption loses none, and returns the last line.
pub(super) async fn send_and_render(matches: &ArgMatches) -> Result<String> {
    let api = OperatorArguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    let matches = matches.subcommand_matches(CLAIM).unwrap_or(matches);
    let mut last = matches.get_one::<EventId>(AFTER).copied();
    let mut until = None;
    let mut claimed = 0_u64;
    loop {
        let step = send_step(&api, last, until).await.map_err(|error| {
            let place = last.map(|event| format!(": go on with --{AFTER} {event}"));
            let place = place.unwrap_or_default();
            Error::because(format!("not all values are claimed{place}"), error)
        })?;
        for one in &step.duplicates {
            print_duplicate(one)
                .map_err(|error| Error::because("cannot write to standard output", error))?;
        }
        claimed = claimed.saturating_add(step.claimed);
        (last, until) = (step.last, step.until);
        if step.is_complete {
            return Ok(format!("{claimed} subjects got their values\n"));
        }
    }
}

async fn send_step(
    api: &OperatorArguments,
    after: Option<EventId>,
    until: Option<EventId>,
) -> Result<ClaimAnswer> {
    let bounds = [(AFTER, after), (UNTIL, until)].into_iter();
    let bounds = bounds.filter_map(|(name, event)| Some(format!("{name}={}", event?)));
    let query = bounds.collect::<Vec<_>>().join("&");
    let path = format!("{PATH}?{query}");
    let answer = api.send_request(Method::POST, &path).await?;
    ClaimAnswer::deserialize(&answer).map_err(|error| {
        Error::because("the response of the application has an unknown form", error)
    })
}

fn print_duplicate(duplicate: &DuplicateAnswer) -> io::Result<()> {
    let DuplicateAnswer {
        rule,
        member,
        event,
        subject,
    } = duplicate;
    let line = format!("{subject}: `{member}` of event {event} is taken, by the rule {rule}");
    writeln!(io::stdout(), "{}", escape_for_terminal(&line))
}
