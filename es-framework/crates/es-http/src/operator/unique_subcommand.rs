//! The subcommand `unique`. It claims the unique values of events that are older than their rules, in the application that
//! runs.

use std::io::{self, Write as _};

use clap::{Args, Subcommand};
use es_command::unique::{ClaimRange, ClaimReport, DuplicateValue};
use es_event::{Error, EventId, Result, foreign_text::escape_for_terminal};
use reqwest::Method;
use serde::Deserialize as _;

use super::{client::OperatorArguments, unique_values::PATH};

#[derive(Debug, Args)]
pub(crate) struct UniqueArguments {
    #[command(flatten)]
    api: OperatorArguments,
    #[command(subcommand)]
    action: UniqueAction,
}

#[derive(Debug, Subcommand)]
enum UniqueAction {
    /// Claims the values of all events in their order, and lists those that two subjects have.
    Claim {
        /// Id of the event after which an interrupted run goes on.
        #[arg(long, value_name = "EVENT")]
        after: Option<EventId>,
    },
}

impl UniqueArguments {
    /// Prints the duplicates of each step at once, so that an interruption loses none, and returns the last line.
    pub(crate) async fn claim(self) -> Result<String> {
        let UniqueAction::Claim { after } = self.action;
        let mut range = ClaimRange { after, until: None };
        let mut claimed = 0_usize;
        loop {
            let step = send_step(&self.api, range).await.map_err(|error| {
                let place = match range.after {
                    Some(event) => format!(": go on with --after {event}"),
                    None => String::new(),
                };
                Error::because(format!("not all values are claimed{place}"), error)
            })?;
            for one in &step.duplicates {
                print_duplicate(one)
                    .map_err(|error| Error::because("cannot write to standard output", error))?;
            }
            claimed = claimed.saturating_add(step.claimed);
            if step.is_complete {
                return Ok(format!("{claimed} subjects got their values"));
            }
            range = ClaimRange {
                after: step.last,
                until: step.until,
            };
        }
    }
}

async fn send_step(api: &OperatorArguments, range: ClaimRange) -> Result<ClaimReport> {
    let query = serde_urlencoded::to_string(range)
        .map_err(|error| Error::because("the address cannot be written", error))?;
    let path = format!("{PATH}?{query}");
    let answer = api.send_request(Method::POST, &path, None).await?;
    ClaimReport::deserialize(&answer).map_err(|error| {
        Error::because("the response of the application has an unknown form", error)
    })
}

fn print_duplicate(duplicate: &DuplicateValue) -> io::Result<()> {
    let DuplicateValue {
        rule,
        member,
        event,
        subject,
    } = duplicate;
    let line = format!("{subject}: `{member}` of event {event} is taken, by the rule {rule}");
    writeln!(io::stdout(), "{}", escape_for_terminal(&line))
}
