//! The subcommand `reaction` of every application: asks the one that runs how its reactions are doing,
//! or has one take or leave out the event that stopped it.

use clap::{FromArgMatches as _, Parser, Subcommand};
use serde::Deserialize;

use super::asking::{self, Application};
use crate::{Result, http::reactions::PATH};

/// The name of the subcommand.
pub(super) const NAME: &str = "reaction";

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
        let application = &self.application;
        let (name, verb, done) = match &self.command {
            Command::Status => return application.status(PATH, lines).await,
            Command::Retry { name } => (name, "retry", "takes the event again"),
            Command::Skip { name } => (name, "skip", "goes on without what it could not do"),
        };
        application.have(PATH, name, verb, done).await
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

/// A line for a reaction, one for its deadlines and one for what keeps it from going on.
fn lines(name: &str, status: Status) -> String {
    let position = status.position.as_deref();
    let mut text = asking::reached(name, position, status.events_behind);
    if let Some(next) = status.next_deadline {
        let open = status.open_deadlines;
        text.push_str(&format!("  {open} open deadlines, the next at {next}\n"));
    }
    if let Some(error) = status.error {
        text.push_str(&format!("  {error}\n"));
    }
    text
}
