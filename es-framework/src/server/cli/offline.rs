//! Commands that work on a data directory while no event store runs on it.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use clap::Args;
use futures_util::TryStreamExt as _;

use super::{CommandError, output::Output, progress::Progress};
use crate::{
    event::EventId,
    store::{
        backup::{self, BackupLine},
        newest_id,
        sqlite::{EmbeddedStore, Restore},
        verify,
    },
};

/// The directory that a command works on.
#[derive(Debug, Args)]
pub(super) struct DataDirectory {
    /// The directory in which `event-store run` keeps the events. It must not be running.
    #[arg(long, env = "EVENT_STORE_DATA_DIR", value_name = "PATH")]
    data_directory: PathBuf,
}

impl DataDirectory {
    /// Opens a store that is there; a wrong path must not make a new one.
    pub(super) fn open(&self) -> Result<EmbeddedStore, CommandError> {
        let directory = &self.data_directory;
        if !directory.join("events.sqlite").is_file() {
            return Err(CommandError::NoStore(directory.clone()));
        }
        Ok(EmbeddedStore::open(directory)?)
    }
}

/// How many events there are.
pub(super) async fn count(store: &EmbeddedStore) -> Result<u64, CommandError> {
    let last = newest_id(store).await?;
    Ok(last
        .map_or(0, EventId::get)
        .saturating_add(u64::from(last.is_some())))
}

/// Where lines come from: a file or standard input.
pub(super) fn lines(
    file: Option<&Path>,
) -> io::Result<impl Iterator<Item = (usize, io::Result<Vec<u8>>)>> {
    let input: Box<dyn io::Read> = match file {
        None => Box::new(io::stdin()),
        Some(file) => Box::new(File::open(file)?),
    };
    let lines = BufReader::with_capacity(1 << 20, input).split(b'\n');
    // People count lines from one.
    let numbered = (1..).zip(lines);
    Ok(numbered.filter(|(_, line)| {
        let is_blank = |line: &Vec<u8>| line.trim_ascii().is_empty();
        !line.as_ref().is_ok_and(is_blank)
    }))
}

pub(super) async fn verify_store(directory: &DataDirectory) -> Result<ExitCode, CommandError> {
    let store = directory.open()?;
    let mut progress = Progress::of("verify", count(&store).await.ok());
    let verified = verify(&store, |events| progress.at(events)).await;
    progress.end();
    let verified = verified?;
    store.close().await;
    if let Some(flaw) = verified.flaw {
        eprintln!(
            "broken at event {}: {}\n{} events before it are whole",
            flaw.event, flaw.reason, verified.events
        );
        return Ok(ExitCode::FAILURE);
    }
    eprintln!(
        "whole: {} events, the last with the hash {}",
        verified.events, verified.hash
    );
    Ok(ExitCode::SUCCESS)
}

/// Arguments of `backup`.
#[derive(Debug, Args)]
pub(super) struct Backup {
    #[command(flatten)]
    directory: DataDirectory,
    /// The file to write, which must not be there yet; standard output where it is left out.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) async fn back_up(arguments: &Backup) -> Result<(), CommandError> {
    let store = arguments.directory.open()?;
    let mut progress = Progress::of("backup", Some(count(&store).await?));
    let mut output = Output::create(arguments.output.as_deref())?;
    let mut lines = backup::lines(Arc::new(store.clone()));
    let (mut events, mut text) = (0_u64, Vec::new());
    while let Some(line) = lines.try_next().await? {
        events = events.saturating_add(u64::from(matches!(line, BackupLine::Event(_))));
        text.clear();
        line.write(&mut text);
        output.write(&text)?;
        progress.at(events);
    }
    output.finish()?;
    progress.end();
    drop(lines);
    store.close().await;
    eprintln!("backed up {events} events");
    Ok(())
}

/// Arguments of `restore`.
#[derive(Debug, Args)]
pub(super) struct RestoreArguments {
    /// The directory to fill, which must be missing or empty.
    #[arg(long, env = "EVENT_STORE_DATA_DIR", value_name = "PATH")]
    data_directory: PathBuf,
    /// The backup; standard input where it is left out.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
}

pub(super) fn restore(arguments: &RestoreArguments) -> Result<(), CommandError> {
    let lines = lines(arguments.input.as_deref())?;
    let mut restore = Restore::begin(&arguments.data_directory)?;
    let mut progress = Progress::of("restore", None);
    for (number, line) in lines {
        let line = BackupLine::parse(&line?);
        restore.add(line.map_err(|error| CommandError::Line(number, error.to_string()))?)?;
        progress.at(restore.events());
    }
    let chain = restore.finish()?;
    progress.end();
    eprintln!(
        "restored {} events, the last with the hash {}",
        chain.events(),
        chain.hash()
    );
    Ok(())
}
