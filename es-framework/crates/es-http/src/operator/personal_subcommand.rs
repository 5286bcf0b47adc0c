//! The subcommand `personal`. It finds, exports, erases and verifies the personal data of a person in the application that
//! runs.

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use es_event::{Error, Result, foreign_text::escape_for_terminal};
use reqwest::Method;
use serde_json::{Value, json};

use super::{client::OperatorArguments, personal_data::PersonalDataAction};

#[derive(Debug, Args)]
pub(crate) struct PersonalArguments {
    #[command(flatten)]
    api: OperatorArguments,
    #[command(subcommand)]
    action: PersonalAction,
}

#[derive(Debug, Subcommand)]
enum PersonalAction {
    #[command(about = about(PersonalDataAction::Find))]
    Find {
        #[command(flatten)]
        person: PersonArgument,
    },
    #[command(about = about(PersonalDataAction::Export))]
    Export {
        #[command(flatten)]
        person: PersonArgument,
    },
    #[command(about = about(PersonalDataAction::Erase))]
    Erase {
        #[command(flatten)]
        person: PersonArgument,
        /// Do not ask for a confirmation.
        #[arg(long)]
        yes: bool,
    },
    #[command(about = about(PersonalDataAction::Verify))]
    Verify {
        #[command(flatten)]
        person: PersonArgument,
        /// File with values that must be gone, one a line, or - for standard input: searches the events, the snapshots and
        /// the read models for them, and fails if one is found.
        #[arg(long, value_name = "FILE")]
        values: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
struct PersonArgument {
    /// Subject that ends with the id of the person, such as /readers/0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55.
    subject: String,
}

fn about(action: PersonalDataAction) -> &'static str {
    action.description().trim_end_matches('.')
}

impl PersonalArguments {
    /// Sends the action to the application, and returns its answer.
    pub(crate) async fn send(self) -> Result<Value> {
        let (action, PersonArgument { subject }, values) = match self.action {
            PersonalAction::Find { person } => (PersonalDataAction::Find, person, None),
            PersonalAction::Export { person } => (PersonalDataAction::Export, person, None),
            PersonalAction::Erase { person, yes } => {
                if !yes {
                    confirm(&person.subject)?;
                }
                (PersonalDataAction::Erase, person, None)
            }
            PersonalAction::Verify { person, values } => match values {
                None => (PersonalDataAction::Verify, person, None),
                Some(file) => (
                    PersonalDataAction::Search,
                    person,
                    Some(read_values(&file)?),
                ),
            },
        };
        let method = if action.is_post() {
            Method::POST
        } else {
            Method::GET
        };
        let query = serde_urlencoded::to_string([("subject", subject)])
            .map_err(|error| Error::because("the address cannot be written", error))?;
        let path = format!("{}?{query}", action.path());
        self.api.send_request(method, &path, values).await
    }
}

/// Returns the reason why the command fails although the application answered.
pub(crate) fn failure_of(answer: &Value) -> Option<&'static str> {
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

fn read_values(file: &Path) -> Result<Vec<u8>> {
    let read = if file == Path::new("-") {
        io::read_to_string(io::stdin())
    } else {
        fs::read_to_string(file)
    };
    let text = read.map_err(|error| Error::because("the values cannot be read", error))?;
    let lines = text.lines().map(str::trim);
    let values: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    if values.is_empty() {
        return Err(Error::new(
            "there is no value to search for: write one a line",
        ));
    }
    Ok(json!(values).to_string().into_bytes())
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
