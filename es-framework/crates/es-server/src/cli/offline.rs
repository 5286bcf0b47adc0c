//! The subcommands `verify`, `backup` and `restore`. A data directory must not be used by a running event
//! store.

use std::path::PathBuf;

use clap::Args;
use futures_util::TryStreamExt as _;

use super::{
    cli_error::CliError,
    engine::{ExistingStoreArguments, refuse_url},
    line_input::{BACKUP_LINE, NumberedLines},
    output::{LineOutput, report},
    progress_bar::{ProgressDisplay, verify_with_progress},
};
use es_event::EventId;
use es_store::{
    EventStore,
    backup::{self, BackupLine},
    newest_id,
};
use es_store_sqlite::Restore;

/// Counts the events of a store.
pub(super) async fn count_events(store: &dyn EventStore) -> Result<u64, CliError> {
    Ok(EventId::count_to(newest_id(store).await?))
}

pub(super) async fn verify_store(arguments: &ExistingStoreArguments) -> Result<bool, CliError> {
    let engine = arguments.open_existing().await?;
    let store = engine.port();
    let verified = verify_with_progress(&*store, count_events(&*store).await.ok()).await?;
    engine.close().await;
    if let Some(flaw) = verified.flaw {
        report(format_args!(
            "broken at event {}: {}\n{} events before it are whole",
            flaw.event, flaw.reason, verified.events
        ));
        return Ok(false);
    }
    if let Some(flaw) = verified.table_flaw {
        report(format_args!(
            "broken table: {flaw}\n\
             all {} events are whole: an event store that runs builds its indexes again",
            verified.events
        ));
        return Ok(false);
    }
    report(format_args!(
        "whole: {} events, the last with the hash {}",
        verified.events, verified.hash
    ));
    Ok(true)
}

/// The arguments of `backup`.
#[derive(Debug, Args)]
pub(super) struct BackupArguments {
    #[command(flatten)]
    engine: ExistingStoreArguments,
    /// The file to write, which must not exist. Without it, standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) async fn back_up(arguments: &BackupArguments) -> Result<(), CliError> {
    let engine = arguments.engine.open_existing().await?;
    let store = engine.port();
    let mut progress = ProgressDisplay::new("backup", Some(count_events(&*store).await?));
    let mut output = LineOutput::create(arguments.output.as_deref())?;
    let mut lines = backup::stream_lines(store);
    let (mut events, mut text) = (0_u64, Vec::new());
    while let Some(line) = lines.try_next().await? {
        events = events.saturating_add(u64::from(matches!(line, BackupLine::Event(_))));
        text.clear();
        line.append_to(&mut text);
        output.write(&text)?;
        progress.update(events);
    }
    output.finish()?;
    progress.finish();
    drop(lines);
    engine.close().await;
    report(format_args!("backed up {events} events"));
    Ok(())
}

/// The arguments of `restore`.
#[derive(Debug, Args)]
pub(super) struct RestoreArguments {
    /// The directory of the new store, which must be missing or empty.
    #[arg(long, env = "EVENT_STORE_DATA_DIR", value_name = "PATH")]
    data_directory: PathBuf,
    /// The backup. Without it, standard input.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Restores a backup without an end mark, as earlier versions wrote it. Its end may be missing: compare the number
    /// of events and the last hash with what you know.
    #[arg(long)]
    accept_missing_end: bool,
}

pub(super) fn restore(arguments: &RestoreArguments) -> Result<(), CliError> {
    let lines = NumberedLines::open(arguments.input.as_deref(), BACKUP_LINE)?;
    refuse_url(&arguments.data_directory)?;
    let mut restore = Restore::begin(&arguments.data_directory)?;
    if arguments.accept_missing_end {
        restore = restore.accept_missing_end();
    }
    let mut progress = ProgressDisplay::new("restore", None);
    for (number, line) in lines {
        let refused = |reason: String| CliError::Line(number, reason);
        let line = line.map_err(|error| refused(error.to_string()))?;
        let line = BackupLine::parse_line(&line).map_err(|error| refused(error.to_string()))?;
        restore.add_line(line)?;
        progress.update(restore.events());
    }
    let chain = restore.finish()?;
    progress.finish();
    report(format_args!(
        "restored {} events, the last with the hash {}",
        chain.events(),
        chain.hash()
    ));
    Ok(())
}
