//! The subcommand `personal` of every application. It finds, exports, erases and verifies the personal data of a
//! person in the application that runs.

use std::io::{self, IsTerminal as _, Write as _};

use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _};
use es_event::{Error, Result};
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::{client::OperatorArguments, personal_data::PersonalDataAction};

pub(super) const NAME: &str = "personal";

const SUBJECT: &str = "subject";
const YES: &str = "yes";

pub(super) fn clap_command() -> Command {
    let command = OperatorArguments::augment_args(Command::new(NAME))
        .about("Finds, exports, erases and verifies the personal data of one person in the running application")
        .subcommand_required(true)
        .arg_required_else_help(true);
    PersonalDataAction::ALL.into_iter().fold(command, |command, action| {
        let subject = Arg::new(SUBJECT)
            .value_name("SUBJECT")
            .required(true)
            .help("Subject that ends with the id of the person, such as /readers/0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55");
        let about = action.description().trim_end_matches('.');
        let subcommand = Command::new(action.verb()).about(about).arg(subject);
        command.subcommand(if action.is_change() {
            let yes = Arg::new(YES).long(YES).action(ArgAction::SetTrue);
            subcommand.arg(yes.help("Do not ask for a confirmation"))
        } else {
            subcommand
        })
    })
}

/// The answer of the application to an erasure.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErasureAnswer {
    person: String,
    done: Vec<String>,
    unreached: Vec<String>,
    plain_events: Vec<String>,
}

pub(super) async fn send_and_render(matches: &ArgMatches) -> Result<String> {
    let api = OperatorArguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    let (verb, matches) = matches.subcommand().unwrap_or(("", matches));
    let mut actions = PersonalDataAction::ALL.into_iter();
    let action = actions.find(|action| action.verb() == verb);
    let action = action.ok_or_else(|| Error::new("the action is unknown"))?;
    let subject = matches.get_one::<String>(SUBJECT).map(String::as_str);
    let subject = subject.unwrap_or_default();
    let query = |action: PersonalDataAction| {
        let subject: String = subject.bytes().map(percent_encoded).collect();
        format!("{}?{SUBJECT}={subject}", action.path())
    };
    if !action.is_change() {
        let answer = api.send_request(Method::GET, &query(action)).await?;
        return Ok(format!("{answer:#}\n"));
    }
    if !matches.get_flag(YES) {
        let found = api
            .send_request(Method::GET, &query(PersonalDataAction::Find))
            .await?;
        confirm(subject, &found)?;
    }
    let answer = api.send_request(Method::POST, &query(action)).await?;
    let answer = ErasureAnswer::deserialize(&answer);
    let answer = answer.map_err(|error| {
        Error::because("the response of the application has an unknown form", error)
    })?;
    answer.into_text()
}

/// Encodes a byte of a query parameter. A subject contains only few characters that need it.
fn percent_encoded(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

fn confirm(subject: &str, found: &Value) -> Result<()> {
    let events = found.get("events").and_then(Value::as_array);
    let count = events.map_or(0, Vec::len);
    if !io::stdin().is_terminal() {
        return Err(Error::new(
            "nothing is erased without a confirmation: write --yes",
        ));
    }
    let mut out = io::stderr().lock();
    let question = format!(
        "{count} personal values of {subject} will be gone for good, in the events and in all that follows from them.\nWrite `erase` to go on: "
    );
    let failed = |error| Error::because("the confirmation cannot be read", error);
    out.write_all(question.as_bytes())
        .and_then(|()| out.flush())
        .map_err(failed)?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(failed)?;
    if answer.trim() == "erase" {
        return Ok(());
    }
    Err(Error::new("nothing is erased"))
}

impl ErasureAnswer {
    /// Renders a complete erasure, or fails if something was not reached.
    fn into_text(self) -> Result<String> {
        let Self {
            person,
            done,
            unreached,
            plain_events,
        } = self;
        if !unreached.is_empty() {
            return Err(Error::new(format!(
                "the key of {person} is destroyed, but plain values may be left: {}",
                unreached.join("; ")
            )));
        }
        let mut text = format!(
            "the personal data of {person} is erased: {}\n",
            done.join(", ")
        );
        if !plain_events.is_empty() {
            text.push_str(&format!(
                "these events are older than the declaration, hold plain values and cannot be changed: {}\n",
                plain_events.join(", ")
            ));
        }
        text.push_str(
            "backups of the key store that are older can revive the person: destroy them\n",
        );
        Ok(text)
    }
}
