//! The subcommand `reaction` of every application: asks the one that runs how its reactions are doing,
//! or has one take or leave out the event that stopped it.

use clap::{FromArgMatches as _, Parser, Subcommand};
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::asking::{self, Application};
use crate::Result;

/// The name of the subcommand.
pub(super) const NAME: &str = "reaction";

/// Where the application answers for its reactions.
const PATH: &str = "/actuator/reactions";

/// Asks the running application about its reactions.
#[derive(Debug, Parser)]
#[command(name = NAME)]
struct Reaction {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    application: Application,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Says how far each reaction is, what it waits for, and which event stopped one.
    Status,
    /// Has a reaction take the event that stopped it once more.
    Retry {
        /// Name of the reaction.
        name: String,
    },
    /// Has a reaction leave out what it cannot do about the event that stopped it, in every instance.
    Skip {
        /// Name of the reaction.
        name: String,
    },
}

/// The subcommand, for the application's command line.
pub(super) fn command() -> clap::Command {
    <Reaction as clap::CommandFactory>::command()
}

/// Carries it out.
pub(super) fn run(matches: &clap::ArgMatches) -> Result<()> {
    let asked = Reaction::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    asking::print(asked.answer())
}

impl Reaction {
    async fn answer(&self) -> Result<String> {
        let (name, verb, done) = match &self.command {
            Command::Status => {
                return Ok(status(&self.application.ask(Method::GET, PATH).await?));
            }
            Command::Retry { name } => (name, "retry", "takes the event again"),
            Command::Skip { name } => (name, "skip", "goes on without what it could not do"),
        };
        let path = format!("{PATH}/{name}/{verb}");
        let answer = self.application.ask(Method::POST, &path).await?;
        Ok(format!("{name} {done}{}\n", asking::event(&answer)))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    position: Option<String>,
    events_behind: u64,
    open_deadlines: u64,
    next_deadline: Option<String>,
    error: Option<String>,
}

/// A line for each reaction, one for its deadlines and one for what keeps it from going on.
fn status(reactions: &Value) -> String {
    let mut text = String::new();
    for (name, reaction) in reactions.as_object().into_iter().flatten() {
        let Ok(status) = Status::deserialize(reaction) else {
            text.push_str(&format!("{name}: unknown\n"));
            continue;
        };
        let position = status.position.as_deref();
        text.push_str(&asking::reached(name, position, status.events_behind));
        if let Some(next) = status.next_deadline {
            let open = status.open_deadlines;
            text.push_str(&format!("  {open} open deadlines, the next at {next}\n"));
        }
        if let Some(error) = status.error {
            text.push_str(&format!("  {error}\n"));
        }
    }
    text
}
