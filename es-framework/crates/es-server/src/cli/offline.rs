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
    DamagePlace, DamageSettlement, EventLog, LogDamage, VerificationReport,
    backup::{self, BackupLine},
    newest_id,
};
use es_store_sqlite::Restore;

/// Counts the events of a store.
pub(super) async fn count_events(log: &dyn EventLog) -> Result<u64, CliError> {
    Ok(EventId::count_to(newest_id(log).await?))
}

/// The arguments of `verify`.
#[derive(Debug, Args)]
pub(super) struct VerifyArguments {
    #[command(flatten)]
    engine: ExistingStoreArguments,
    /// Builds the tables that follow from the events again if only they are damaged.
    #[arg(long)]
    rebuild: bool,
    /// Opens the log for writing although it is damaged. Damaged events are never read again, and the same damage does
    /// not close the log again.
    #[arg(long)]
    accept: bool,
}

/// Returns false if the store is damaged.
pub(super) async fn verify_store(arguments: &VerifyArguments) -> Result<bool, CliError> {
    let engine = arguments.engine.open_existing().await?;
    let store = engine.port();
    let events = count_events(&*store).await.ok();
    let known = store.damaged_places().await?;
    let mut verified = verify_with_progress(&*store, events).await?;
    let is_in_tables = |damage: &LogDamage| matches!(damage.place, DamagePlace::Table(_));
    if arguments.rebuild && verified.damage.iter().any(is_in_tables) {
        engine.rebuild_tables().await?;
        verified = verify_with_progress(&*store, events).await?;
    }
    let is_whole = verified.damage.is_empty();
    if arguments.accept && !is_whole {
        let settlement = DamageSettlement {
            known,
            found: verified.damage.clone(),
            is_accepted: true,
        };
        store.settle_damage(settlement).await?;
    }
    engine.close().await;
    print_report(&verified, arguments.accept);
    Ok(is_whole)
}

fn print_report(verified: &VerificationReport, is_accepted: bool) {
    let VerificationReport {
        events,
        hash,
        damage,
    } = verified;
    let Some(first) = damage.first() else {
        report(format_args!(
            "whole: {events} events, the last with the hash {hash}"
        ));
        return;
    };
    for damage in damage {
        report(format_args!("{damage}"));
    }
    let exits = match first.place {
        DamagePlace::Event(_) => {
            report(format_args!(
                "{events} events before the first of these are whole"
            ));
            "restore the events from a standby or a backup"
        }
        DamagePlace::Table(_) => {
            report(format_args!("all {events} events are whole"));
            "run `event-store verify --rebuild`, which builds the tables again"
        }
    };
    if is_accepted {
        report(format_args!(
            "the log is open for writing, because you accept this damage"
        ));
    } else {
        report(format_args!(
            "the log is closed for writing: {exits}, or accept the damage with `event-store verify --accept`"
        ));
    }
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
        let text = line.map_err(|error| refused(error.to_string()))?;
        let parsed = BackupLine::parse_line(&text).map_err(|error| refused(error.to_string()))?;
        restore.add_line(parsed)?;
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
