//! The subcommand `projection` of every application: asks the one that runs how its read models are
//! doing, or has it rebuild one, or take or leave out the event that stopped one.

use clap::{FromArgMatches as _, Parser, Subcommand};
use serde::Deserialize;

use super::asking::{self, Application};
use crate::{Result, http::projections::PATH};

/// The name of the subcommand.
pub(super) const NAME: &str = "projection";

/// Asks the running application about its read models.
#[derive(Debug, Parser)]
#[command(name = NAME)]
struct Projection {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    application: Application,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Says how far each read model is, how a rebuild goes, and which event stopped one.
    Status,
    /// Makes the rows of a read model again, beside those that answer queries meanwhile.
    Rebuild {
        /// Name of the read model.
        name: String,
    },
    /// Has a read model take the event that stopped it once more.
    Retry {
        /// Name of the read model.
        name: String,
    },
    /// Has a read model leave out the event that stopped it, now and in every rebuild.
    Skip {
        /// Name of the read model.
        name: String,
    },
}

/// The subcommand, for the application's command line.
pub(super) fn command() -> clap::Command {
    <Projection as clap::CommandFactory>::command()
}

/// Carries it out.
pub(super) fn run(matches: &clap::ArgMatches) -> Result<()> {
    let asked = Projection::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    asking::print(asked.answer())
}

impl Projection {
    async fn answer(&self) -> Result<String> {
        let application = &self.application;
        let (name, verb, done) = match &self.command {
            Command::Status => return application.status(PATH, lines).await,
            Command::Rebuild { name } => {
                (name, "rebuild", "is rebuilt; status shows how far it is")
            }
            Command::Retry { name } => (name, "retry", "takes the event again"),
            Command::Skip { name } => (name, "skip", "leaves out the event from now on"),
        };
        application.have(PATH, name, verb, done).await
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    position: Option<String>,
    events_behind: u64,
    error: Option<String>,
    rebuild: Option<Rebuild>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rebuild {
    beside: bool,
    events_left: Option<u64>,
    events_per_second: Option<u64>,
    seconds_left: Option<u64>,
    error: Option<String>,
}

/// A line for a read model, and one for each thing that it lacks.
fn lines(name: &str, status: Status) -> String {
    let position = status.position.as_deref();
    let mut text = asking::reached(name, position, status.events_behind);
    if let Some(error) = status.error {
        text.push_str(&format!("  {error}\n"));
    }
    if let Some(rebuild) = status.rebuild {
        text.push_str(&format!("  {}\n", rebuild.sentence()));
    }
    text
}

impl Rebuild {
    fn sentence(&self) -> String {
        let place = match self.beside {
            true => "beside the rows that answer queries",
            false => "in place: queries wait",
        };
        let number = |number: Option<u64>| number.map_or("?".to_owned(), |one| one.to_string());
        let pace = format!(
            "{} events left, {} events/s, {} s",
            number(self.events_left),
            number(self.events_per_second),
            number(self.seconds_left),
        );
        match &self.error {
            Some(error) => format!("rebuilt {place}: {error}"),
            None => format!("rebuilt {place}: {pace}"),
        }
    }
}
