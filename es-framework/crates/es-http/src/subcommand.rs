//! The subcommands that this crate adds to the command line of an application.

#[cfg(feature = "client")]
use std::{
    fmt,
    io::{self, Write as _},
};

use clap::{ArgMatches, Command, FromArgMatches as _, Subcommand};
use es_event::Result;
#[cfg(feature = "client")]
use es_event::{Error, foreign_text::escape_for_terminal};
#[cfg(feature = "client")]
use es_subscribe::operator::ComponentKind;

use crate::auth::token_subcommand::TokensFileAction;
#[cfg(feature = "client")]
use crate::operator::{
    component_subcommand::{ComponentArguments, describe_commands},
    personal_subcommand::{PersonalArguments, failure_of},
    unique_subcommand::UniqueArguments,
};

#[derive(Debug, Subcommand)]
enum HttpSubcommand {
    /// Shows and repairs the read models of the running application.
    #[cfg(feature = "client")]
    Projection(ComponentArguments),
    /// Shows and repairs the reactions of the running application.
    #[cfg(feature = "client")]
    Reaction(ComponentArguments),
    /// Finds, exports, erases and verifies the personal data of one person in the running application.
    #[cfg(feature = "client")]
    Personal(PersonalArguments),
    /// Claims the unique values of events that are older than their rules, in the running application.
    #[cfg(feature = "client")]
    Unique(UniqueArguments),
    /// Creates and revokes the bearer tokens of callers.
    #[command(subcommand)]
    Token(TokensFileAction),
}

/// Adds the subcommands of operators, and the one that changes the file of bearer tokens.
#[doc(hidden)]
#[must_use]
pub fn add_subcommands(command: Command) -> Command {
    let command = HttpSubcommand::augment_subcommands(command);
    #[cfg(feature = "client")]
    let command = command
        .mut_subcommand("projection", |subcommand| {
            describe_commands(ComponentKind::ReadModel, subcommand)
        })
        .mut_subcommand("reaction", |subcommand| {
            describe_commands(ComponentKind::Reaction, subcommand)
        });
    command
}

/// Runs the subcommand of the command line, if it is one of this crate.
#[doc(hidden)]
pub fn run_subcommand(matches: &ArgMatches) -> Option<Result<()>> {
    let (name, _) = matches.subcommand()?;
    if !HttpSubcommand::has_subcommand(name) {
        return None;
    }
    let subcommand = HttpSubcommand::from_arg_matches(matches);
    Some(match subcommand.unwrap_or_else(|error| error.exit()) {
        #[cfg(feature = "client")]
        HttpSubcommand::Projection(arguments) => {
            print_answer(arguments.send(ComponentKind::ReadModel)).map(drop)
        }
        #[cfg(feature = "client")]
        HttpSubcommand::Reaction(arguments) => {
            print_answer(arguments.send(ComponentKind::Reaction)).map(drop)
        }
        #[cfg(feature = "client")]
        HttpSubcommand::Personal(arguments) => print_answer(arguments.send())
            .and_then(|answer| failure_of(&answer).map_or(Ok(()), |text| Err(Error::new(text)))),
        #[cfg(feature = "client")]
        HttpSubcommand::Unique(arguments) => print_answer(arguments.claim()).map(drop),
        HttpSubcommand::Token(action) => action.run(),
    })
}

/// Waits for an answer of the application and prints it. JSON has one member a line.
#[cfg(feature = "client")]
fn print_answer<T: fmt::Display>(answer: impl Future<Output = Result<T>>) -> Result<T> {
    let answer = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::because("the asynchronous runtime cannot start", error))?
        .block_on(answer)?;
    let text = escape_for_terminal(&format!("{answer:#}"));
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| Error::because("cannot write to standard output", error))?;
    Ok(answer)
}
