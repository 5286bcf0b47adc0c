//! The subcommand `import` of every application: events of another system, with the time at which each happened.
//!
//! The application and not the program `event-store` imports, because it knows the declared events and the keys of
//! persons. All lines are checked before the first event is written. Each append also records how many lines it
//! completes, so an import that was interrupted continues there.

mod cloud_event_line;
mod line_file;

use std::{
    io::{self, Write as _},
    path::PathBuf,
    sync::Arc,
};

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use es_event::foreign_text::escape_for_terminal;
use serde::{Deserialize, Serialize};

use self::{cloud_event_line::EventChecker, line_file::LineFile};
use super::{
    declarations::Declarations, event_store::open_event_store, personal_data::open_personal_store,
};
use crate::{
    Error, Result,
    config::Settings,
    event::{EventCandidate, EventId, EventType, Metadata, Subject, encode},
    store::{EventLog, EventStore, Precondition, latest_event},
};

/// The name of the subcommand.
pub(super) const NAME: &str = "import";
/// The type of the event that records how far an import has come.
const IMPORTED: EventType = EventType::declared("io.es-framework.EventsImportedEvent");
/// The number of events in an append.
const BATCH: usize = 500;
/// The number of mistakes that are printed.
const MAX_MISTAKES: u64 = 20;
/// The number of events between two lines about the progress.
const PROGRESS: u64 = 10_000;

#[derive(Debug, Args)]
struct EventImportArguments {
    /// A file with an event as a line of JSON: a CloudEvent with type, subject, data and the time at which it happened
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Checks the lines and writes nothing
    #[arg(long)]
    dry_run: bool,
}

/// The payload of the event that records how far an import has come.
#[derive(Debug, Serialize, Deserialize)]
struct ImportRecord {
    /// The number of lines, counted from the first one, whose events are recorded.
    lines: u64,
}

/// Returns the subcommand for the application's command line.
pub(super) fn clap_command() -> Command {
    EventImportArguments::augment_args(Command::new(NAME).about(
        "Imports events of another system into the event store of the settings. Checks all of them before it writes the first one, and continues after an interruption",
    ))
}

/// Returns the arguments, if the command line has the subcommand.
pub(super) fn find_arguments(matches: &ArgMatches) -> Option<ArgMatches> {
    let (name, arguments) = matches.subcommand()?;
    (name == NAME).then(|| arguments.clone())
}

/// Runs the subcommand.
pub(super) async fn import_events(
    declarations: &Declarations,
    settings: &Settings,
    store: Option<Arc<dyn EventStore>>,
    arguments: &ArgMatches,
) -> Result<()> {
    let arguments =
        EventImportArguments::from_arg_matches(arguments).unwrap_or_else(|error| error.exit());
    let checker = EventChecker::new(&declarations.catalog, settings.source(declarations.name));
    let checked = check_lines(&arguments, &checker)?;
    let total = checked.lines;
    if arguments.dry_run {
        return say(format_args!(
            "all {total} lines are valid; nothing was written"
        ));
    }
    let opened = open_event_store(settings, store).await?;
    let events = declarations.catalog.events();
    let personal = open_personal_store(events, settings, opened.as_event_store()).await?;
    let log: Arc<dyn EventLog> = match personal {
        Some(personal) => Arc::new(personal),
        None => opened.as_event_store(),
    };
    let imported = write_lines(&arguments, &checker, &checked, &*log).await;
    drop(log);
    opened.close().await;
    let before = imported?;
    let now = total.saturating_sub(before);
    say(format_args!(
        "imported {now} events; {before} were there already"
    ))
}

/// The result of the first pass.
struct CheckedFile {
    lines: u64,
    /// The digest of the file, which tells imports apart.
    digest: String,
}

/// Checks all lines, and prints the mistakes.
fn check_lines(
    arguments: &EventImportArguments,
    checker: &EventChecker<'_>,
) -> Result<CheckedFile> {
    let mut file = LineFile::open(&arguments.file)?;
    let (mut lines, mut mistakes) = (0_u64, 0_u64);
    while let Some(line) = file.next_line()? {
        lines = lines.saturating_add(1);
        if let Err(reason) = checker.parse_line(&line.text) {
            mistakes = mistakes.saturating_add(1);
            if mistakes <= MAX_MISTAKES {
                say(format_args!("line {}: {reason}", line.number))?;
            }
        }
    }
    if mistakes > 0 {
        return Err(Error::new(format!(
            "{mistakes} of {lines} lines are not valid, so nothing was imported"
        )));
    }
    let digest = file.digest();
    Ok(CheckedFile { lines, digest })
}

/// Appends the events of all lines that no earlier run has appended. Returns the number of those that one has.
async fn write_lines(
    arguments: &EventImportArguments,
    checker: &EventChecker<'_>,
    checked: &CheckedFile,
    log: &dyn EventLog,
) -> Result<u64> {
    let subject = format!("/es-framework/imports/{}", checked.digest)
        .parse::<Subject>()
        .map_err(|error| Error::because("the import has no name", error))?;
    let latest = latest_event(log, subject.clone(), false)
        .await
        .map_err(|error| Error::because("the event store does not answer", error))?;
    let before = match &latest {
        Some(event) => {
            event
                .payload::<ImportRecord>()
                .map_err(|error| Error::because("the import cannot go on", error))?
                .lines
        }
        None => 0,
    };
    let mut import = EventImport {
        log,
        source: checker.source(),
        subject,
        latest: latest.map(|event| event.id),
        lines: before,
        batch: Vec::new(),
    };
    let mut file = LineFile::open(&arguments.file)?;
    let mut read = 0_u64;
    while let Some(line) = file.next_line()? {
        read = read.saturating_add(1);
        if read <= before {
            continue;
        }
        let parsed = checker.parse_line(&line.text);
        let candidate = parsed.map_err(|reason| {
            let number = line.number;
            Error::new(format!("the file has changed: line {number}: {reason}"))
        })?;
        import.batch.push(candidate);
        if import.batch.len() >= BATCH {
            import.append_batch().await?;
        }
    }
    import.append_batch().await?;
    Ok(before)
}

/// The events of an import, on their way to the store.
struct EventImport<'a> {
    log: &'a dyn EventLog,
    source: Arc<str>,
    /// The subject of the records.
    subject: Subject,
    /// The last record.
    latest: Option<EventId>,
    /// The number of lines whose events are recorded.
    lines: u64,
    batch: Vec<EventCandidate>,
}

impl EventImport<'_> {
    /// Appends the batch with its record. Two runs at once do not write the same lines, because one of them meets the
    /// record of the other.
    async fn append_batch(&mut self) -> Result<()> {
        let mut events = std::mem::take(&mut self.batch);
        if events.is_empty() {
            return Ok(());
        }
        let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
        let lines = self.lines.saturating_add(count);
        let data = encode(&Metadata::default(), &ImportRecord { lines })
            .map_err(|error| Error::because("the import cannot be recorded", error))?;
        events.push(EventCandidate {
            source: Arc::clone(&self.source),
            subject: self.subject.clone(),
            event_type: IMPORTED,
            data,
            trace: None,
        });
        let unchanged = Precondition::subject_is_unchanged(self.subject.clone(), self.latest);
        let recorded = self.log.append(events, vec![unchanged]).await;
        let recorded = recorded.map_err(|error| {
            let done = self.lines;
            let sentence = format!(
                "the import stopped after {done} lines. Run it again: it continues with what is not recorded"
            );
            Error::because(sentence, error)
        })?;
        self.latest = recorded.last().map(|event| event.id);
        if lines.checked_div(PROGRESS) > self.lines.checked_div(PROGRESS) {
            say(format_args!("{lines} lines"))?;
        }
        self.lines = lines;
        Ok(())
    }
}

/// Prints a line on standard error.
fn say(line: std::fmt::Arguments<'_>) -> Result<()> {
    let text = escape_for_terminal(&line.to_string());
    writeln!(io::stderr(), "{text}")
        .map_err(|error| Error::because("cannot write to standard error", error))
}
