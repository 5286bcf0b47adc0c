//! The subcommand `personal` of every application. It finds, exports, erases and verifies the personal data of a
//! person in the application that runs.

use std::{
    fs,
    io::{self, IsTerminal as _, Read as _, Write as _},
    path::PathBuf,
};

use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _, value_parser};
use es_event::{Error, Result, foreign_text::escape_for_terminal};
use es_personal::PlainValues;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    client::OperatorArguments,
    personal_data::PersonalDataAction,
    personal_files::{push, search_files},
    text_output::print_text,
};

pub(super) const NAME: &str = "personal";

const SUBJECT: &str = "subject";
const YES: &str = "yes";
const VALUES: &str = "values";
const ALSO: &str = "also";
const IS_COMPLETE: &str = "isComplete";

/// The longest list of values, in bytes.
const MAX_VALUES: usize = 1024 * 1024;

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
            PersonalDataAction::Erase => subcommand.arg(yes()).arg(also()),
            PersonalDataAction::Verify => subcommand.arg(values()).arg(also()),
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
    values.help("File with values that must be gone, one a line, or - for standard input: searches the events, the read models and the files of the application for them")
}

fn also() -> Arg {
    let also = Arg::new(ALSO).long(ALSO).value_name("PATH");
    also.action(ArgAction::Append)
        .value_parser(value_parser!(PathBuf))
        .help("Another file or folder to search, such as a log or a backup; repeat it for several")
}

/// The answer of the application to an erasure.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErasureAnswer {
    person: String,
    done: Vec<String>,
    unreached: Vec<String>,
    plain_events: Vec<String>,
    plain_event_count: usize,
}

/// The text of an answer.
struct PersonalAnswer {
    text: String,
    /// The reason why the command fails after the text.
    failure: Option<&'static str>,
}

/// The answer is cut, or a place was not searched.
const INCOMPLETE: &str = "the answer is not complete: it names what is left out, or has more events or rows than an answer can have";

/// A search was successful, or an erasure was not.
const VALUES_LEFT: &str = "values of the person can be read or were found, perhaps those of another person: the answer names where";

impl PersonalAnswer {
    /// Prints the answer of the application as it is.
    fn from_json(answer: &Value) -> Self {
        Self {
            text: format!("{answer:#}\n"),
            failure: failure_of(answer),
        }
    }
}

fn failure_of(answer: &Value) -> Option<&'static str> {
    let found = answer.pointer("/search/found").and_then(Value::as_array);
    if found.is_some_and(|found| !found.is_empty()) {
        return Some(VALUES_LEFT);
    }
    (answer.get(IS_COMPLETE) != Some(&Value::Bool(true))).then_some(INCOMPLETE)
}

/// An action on a person in the application that runs.
struct PersonRequest<'a> {
    api: OperatorArguments,
    subject: &'a str,
    also: Vec<PathBuf>,
}

/// Prints the answer, and fails if it is not complete.
pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let mut failure = None;
    print_text(async {
        let answer = send_and_render(matches).await?;
        failure = answer.failure;
        Ok(answer.text)
    })?;
    failure.map_or(Ok(()), |failure| Err(Error::new(failure)))
}

async fn send_and_render(matches: &ArgMatches) -> Result<PersonalAnswer> {
    let api = OperatorArguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    let (verb, matches) = matches.subcommand().unwrap_or(("", matches));
    let action = ACTIONS.into_iter().find(|action| action.verb() == verb);
    let action = action.ok_or_else(|| Error::new("the action is unknown"))?;
    let subject = matches.get_one::<String>(SUBJECT).map(String::as_str);
    let also = matches.try_get_many::<PathBuf>(ALSO).ok().flatten();
    let request = PersonRequest {
        api,
        subject: subject.unwrap_or_default(),
        also: also.into_iter().flatten().cloned().collect(),
    };
    match action {
        PersonalDataAction::Erase => request.erase(matches.get_flag(YES)).await,
        PersonalDataAction::Verify => match matches.get_one::<String>(VALUES) {
            Some(file) => {
                let answer = request.search(&read_values(file)?).await?;
                Ok(PersonalAnswer::from_json(&answer))
            }
            None => request.get(action).await,
        },
        action => request.get(action).await,
    }
}

impl PersonRequest<'_> {
    async fn send(&self, action: PersonalDataAction, body: Option<Vec<u8>>) -> Result<Value> {
        let method = if action.is_post() {
            Method::POST
        } else {
            Method::GET
        };
        let subject: String = self.subject.bytes().map(percent_encoded).collect();
        let path = format!("{}?{SUBJECT}={subject}", action.path());
        self.api.send_body(method, &path, body).await
    }

    async fn get(&self, action: PersonalDataAction) -> Result<PersonalAnswer> {
        let answer = self.send(action, None).await?;
        Ok(PersonalAnswer::from_json(&answer))
    }

    /// Erases the person, and searches for the values that were there before.
    async fn erase(&self, is_confirmed: bool) -> Result<PersonalAnswer> {
        let before = self.send(PersonalDataAction::Export, None).await?;
        if !is_confirmed {
            let counts = self.send(PersonalDataAction::Verify, None).await?;
            confirm(self.subject, &counts)?;
        }
        let answer = self.send(PersonalDataAction::Erase, None).await?;
        let answer = ErasureAnswer::deserialize(&answer).map_err(|error| {
            Error::because("the response of the application has an unknown form", error)
        })?;
        let mut failure =
            (answer.plain_events.len() != answer.plain_event_count).then_some(INCOMPLETE);
        let mut text = answer.into_text()?;
        if failure_of(&before).is_some() {
            failure = Some(INCOMPLETE);
            text.push_str(
                "the export before the erasure was cut, so perhaps not all values are searched for\n",
            );
        }
        let events = before.get("events").and_then(Value::as_array);
        let values = events.into_iter().flatten();
        let values = PlainValues::from_json(values.filter_map(|event| event.get("value")));
        let values = values.map_err(|error| Error::because("the values are too long", error))?;
        if values.texts().is_empty() {
            text.push_str("no values were readable before, so nothing was searched for them: use `personal verify --values`\n");
        } else {
            let verification = self.search(&values).await?;
            // Another person may have such a value, so it does not refute the erasure.
            if verification.get(IS_COMPLETE) != Some(&Value::Bool(true)) {
                failure = Some(INCOMPLETE);
            }
            text.push_str(&search_text(&verification));
        }
        Ok(PersonalAnswer { text, failure })
    }

    /// Returns the verification of the application, with a search of its files by this process.
    async fn search(&self, values: &PlainValues) -> Result<Value> {
        let body = json!(values.texts()).to_string().into_bytes();
        let mut answer = self.send(PersonalDataAction::Search, Some(body)).await?;
        let Some(search) = answer.get_mut("search") else {
            return Ok(answer);
        };
        let are_files_searched = search_files(search, values, &self.also)?;
        // The application does not know which values it was not sent.
        for left_out in [values.too_many_text(), values.unsearchable_text()] {
            left_out.map_or(Ok(()), |text| push(search, "unsearched", text))?;
        }
        if !are_files_searched || values.too_many_text().is_some() {
            let members = answer.as_object_mut();
            members.map(|members| members.insert(IS_COMPLETE.to_owned(), false.into()));
        }
        Ok(answer)
    }
}

fn read_values(file: &str) -> Result<PlainValues> {
    let failed = |error| Error::because("the values cannot be read", error);
    let mut text = String::new();
    // One byte more shows that the list is too long.
    let limit = u64::try_from(MAX_VALUES)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    let read = if file == "-" {
        io::stdin().take(limit).read_to_string(&mut text)
    } else {
        let file = fs::File::open(file).map_err(failed)?;
        file.take(limit).read_to_string(&mut text)
    };
    if read.map_err(failed)? > MAX_VALUES {
        return Err(Error::new(
            "the values are longer than 1 MiB: search for them in several parts",
        ));
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let values = PlainValues::new(lines.map(str::to_owned));
    let values = values.map_err(|error| Error::because("the values are too long", error))?;
    if values.texts().is_empty() {
        return Err(Error::new(
            "there is no value to search for: write one of at least three characters a line",
        ));
    }
    Ok(values)
}

/// Encodes a byte of a query parameter. A subject contains only few characters that need it.
fn percent_encoded(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

fn confirm(subject: &str, counts: &Value) -> Result<()> {
    let count = counts.get("sealed").and_then(Value::as_u64).unwrap_or(0);
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

impl ErasureAnswer {
    /// Renders a complete erasure, or fails if something was not reached.
    fn into_text(self) -> Result<String> {
        let Self {
            person,
            done,
            unreached,
            plain_events,
            plain_event_count,
        } = self;
        if !unreached.is_empty() {
            return Err(Error::new(format!(
                "the key of {person} is destroyed, but plain values may be left, which the application goes on to drop: {}",
                unreached.join("; ")
            )));
        }
        let mut text = format!(
            "the personal data of {person} is erased: {}\n",
            done.join(", ")
        );
        if !plain_events.is_empty() {
            let more = if plain_events.len() < plain_event_count {
                ", …"
            } else {
                ""
            };
            text.push_str(&format!(
                "{plain_event_count} events are older than the declaration, hold plain values and cannot be changed: {}{more}\n",
                plain_events.join(", ")
            ));
        }
        text.push_str(
            "backups of the key store that are older can revive the person: destroy them\n",
        );
        Ok(text)
    }
}

/// Renders the places that a search found or did not reach.
fn search_text(verification: &Value) -> String {
    let list = |name: &str| {
        let search = verification.get("search");
        let list = search.and_then(|search| search.get(name)?.as_array());
        let list = list.into_iter().flatten().filter_map(Value::as_str);
        list.collect::<Vec<_>>()
    };
    let (searched, found, unsearched) = (list("searched"), list("found"), list("unsearched"));
    let mut text = format!("searched for the values: {}\n", searched.join(", "));
    text.push_str(&if found.is_empty() {
        "none of them was found\n".to_owned()
    } else {
        format!(
            "values were found, perhaps those of another person: {}\n",
            found.join(", ")
        )
    });
    if !unsearched.is_empty() {
        text.push_str(&format!("not searched: {}\n", unsearched.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_complete_only_if_it_says_so() {
        let failure = |text: &str| failure_of(&serde_json::from_str(text).unwrap());
        assert_eq!(failure(r#"{"isComplete":true}"#), None);
        assert_eq!(failure(r#"{"isComplete":false}"#), Some(INCOMPLETE));
        assert_eq!(failure("{}"), Some(INCOMPLETE));
        let found = r#"{"isComplete":true,"search":{"found":["event 1"]}}"#;
        assert_eq!(failure(found), Some(VALUES_LEFT));
    }

    #[test]
    fn a_list_of_events_that_is_cut_shows_the_number_of_all() {
        let answer = ErasureAnswer {
            person: "1".to_owned(),
            done: Vec::new(),
            unreached: Vec::new(),
            plain_events: vec!["4".to_owned(), "7".to_owned()],
            plain_event_count: 3,
        };
        let text = answer.into_text().unwrap();
        assert!(
            text.contains("3 events are older") && text.contains("4, 7, …"),
            "{text}"
        );
    }
}
