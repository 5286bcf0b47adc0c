//! The subcommand `personal` of every application. It finds, exports, erases and verifies the personal data of a
//! person in the application that runs.

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _},
};

use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _};
use es_event::{Error, Result, foreign_text::escape_for_terminal};
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    client::OperatorArguments, personal_data::PersonalDataAction, text_output::print_text,
};

pub(super) const NAME: &str = "personal";

const SUBJECT: &str = "subject";
const YES: &str = "yes";
const VALUES: &str = "values";

const ACTIONS: [PersonalDataAction; 4] = [
    PersonalDataAction::Find,
    PersonalDataAction::Export,
    PersonalDataAction::Erase,
    PersonalDataAction::Verify,
];

pub(super) fn clap_command() -> Command {
    let command = OperatorArguments::augment_args(Command::new(NAME))
        .about("Finds, exports, erases and verifies the personal data of one person in the running application")
        .subcommand_required(true)
        .arg_required_else_help(true);
    ACTIONS.into_iter().fold(command, |command, action| {
        let subject = Arg::new(SUBJECT)
            .value_name("SUBJECT")
            .required(true)
            .help("Subject that ends with the id of the person, such as /readers/0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55");
        let about = action.description().trim_end_matches('.');
        let subcommand = Command::new(action.verb()).about(about).arg(subject);
        command.subcommand(match action {
            PersonalDataAction::Erase => subcommand.arg(yes()),
            PersonalDataAction::Verify => subcommand.arg(values()),
            _ => subcommand,
        })
    })
}

fn yes() -> Arg {
    let yes = Arg::new(YES).long(YES).action(ArgAction::SetTrue);
    yes.help("Do not ask for a confirmation")
}

fn values() -> Arg {
    let values = Arg::new(VALUES).long(VALUES).value_name("FILE");
    values.help("File with values that must be gone, one a line, or - for standard input: searches the events, the snapshots and the read models for them, and fails if one is found")
}

/// Prints the answer of the application, and fails if it is not the hoped-for one.
pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let mut failure = None;
    print_text(async {
        let answer = send(matches).await?;
        failure = failure_of(&answer);
        Ok(format!("{answer:#}\n"))
    })?;
    failure.map_or(Ok(()), |failure| Err(Error::new(failure)))
}

/// Returns the reason why the command fails although the application answered.
fn failure_of(answer: &Value) -> Option<&'static str> {
    let has_some = |list: &Value| list.as_array().is_none_or(|list| !list.is_empty());
    let is_cut = |report: &Value| report.get("isComplete") != Some(&Value::Bool(true));
    if let Some(verification) = answer.get("verification") {
        if answer.get("unreached").is_none_or(has_some) {
            return Some(
                "the key is destroyed, but plain values may be left in what is not reached: the application goes on to drop them",
            );
        }
        // Another person may have such a value, so what was found does not refute the erasure.
        return is_cut(verification)
            .then_some("the person is erased, but not all values were searched for");
    }
    if answer.get("found").is_some_and(has_some) {
        return Some("values were found, perhaps those of another person: `found` names where");
    }
    is_cut(answer).then_some(
        "the answer is not complete: it names what is left out, or has more events or rows than an answer can have",
    )
}

async fn send(matches: &ArgMatches) -> Result<Value> {
    let api = OperatorArguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    let (verb, matches) = matches.subcommand().unwrap_or(("", matches));
    let action = ACTIONS.into_iter().find(|action| action.verb() == verb);
    let mut action = action.ok_or_else(|| Error::new("the action is unknown"))?;
    let subject = matches
        .get_one::<String>(SUBJECT)
        .map_or("", String::as_str);
    if action == PersonalDataAction::Erase && !matches.get_flag(YES) {
        confirm(subject)?;
    }
    let mut values = None;
    if action == PersonalDataAction::Verify
        && let Some(file) = matches.get_one::<String>(VALUES)
    {
        action = PersonalDataAction::Search;
        values = Some(read_values(file)?);
    }
    let method = if action.is_post() {
        Method::POST
    } else {
        Method::GET
    };
    let subject: String = subject.bytes().map(percent_encoded).collect();
    let path = format!("{}?{SUBJECT}={subject}", action.path());
    api.send_body(method, &path, values).await
}

fn read_values(file: &str) -> Result<Vec<u8>> {
    let text = if file == "-" {
        io::read_to_string(io::stdin())
    } else {
        fs::read_to_string(file)
    };
    let text = text.map_err(|error| Error::because("the values cannot be read", error))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() {
        return Err(Error::new(
            "there is no value to search for: write one a line",
        ));
    }
    Ok(json!(lines).to_string().into_bytes())
}

/// Encodes a byte of a query parameter. A subject contains only few characters that need it.
fn percent_encoded(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

fn confirm(subject: &str) -> Result<()> {
    if !io::stdin().is_terminal() {
        return Err(Error::new(
            "nothing is erased without a confirmation: write --yes",
        ));
    }
    let question = format!(
        "The personal values of {subject} will be gone for good, in the events and in all that follows from them.\nWrite `erase` to go on: "
    );
    let failed = |error| Error::because("the confirmation cannot be read", error);
    let mut out = io::stderr().lock();
    out.write_all(escape_for_terminal(&question).as_bytes())
        .and_then(|()| out.flush())
        .map_err(failed)?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(failed)?;
    if answer.trim() == "erase" {
        return Ok(());
    }
    Err(Error::new("nothing is erased"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_complete_only_if_it_says_so() {
        let fails = |text: &str| failure_of(&serde_json::from_str(text).unwrap()).is_some();
        assert!(!fails(r#"{"isComplete":true}"#));
        assert!(!fails(r#"{"isComplete":true,"found":[]}"#));
        for failed in [
            r#"{"isComplete":false}"#,
            "{}",
            r#"{"isComplete":true,"found":["event 1"]}"#,
            r#"{"unreached":["rows"],"verification":{"isComplete":true}}"#,
            r#"{"unreached":[],"verification":{"isComplete":false}}"#,
        ] {
            assert!(fails(failed), "{failed}");
        }
        let erased = r#"{"unreached":[],"verification":{"isComplete":true,"found":["event 1"]}}"#;
        assert!(!fails(erased));
    }
}
