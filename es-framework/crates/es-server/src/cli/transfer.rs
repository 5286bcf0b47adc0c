//! The subcommands `export` and `import`: events as lines of JSON. An import gives them new ids.

use std::{borrow::Cow, path::PathBuf, sync::Arc};

use clap::Args;
use es_event::checked_json::check_members;
use futures_util::TryStreamExt as _;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    cli_error::CliError,
    engine::{ExistingStoreArguments, refuse_url},
    line_input::NumberedLines,
    output::{LineOutput, report},
    progress_bar::ProgressDisplay,
};
use crate::{server_settings::BODY_LIMIT, written_subject::deserialize_written_subject};
use es_event::{Dialect, EventCandidate, EventType, Subject, TraceContext, compact_object};
use es_store::{AppendError, EventLog as _, ReadOptions};
use es_store_sqlite::EmbeddedStore;

/// The number of events that an import writes at once.
const BATCH_SIZE: usize = 1_000;
/// The size of these events in bytes, not counting the last one.
const BATCH_BYTES: usize = BODY_LIMIT;
/// The longest line of an import in bytes: an event that the API accepts, with all that an export adds to it. White
/// space and escapes may make it longer than the event that is stored.
const IMPORT_LINE: usize = 4 * BODY_LIMIT;
/// The smallest write of one event, without the values of the event.
const EMPTY_WRITE: &str = r#"{"events":[{"source":"","subject":"","type":"","data":}]}"#;

/// The arguments of `export`.
#[derive(Debug, Args)]
pub(super) struct ExportArguments {
    #[command(flatten)]
    engine: ExistingStoreArguments,
    /// Exports only the events of this subject and of the subjects below it.
    #[arg(long, default_value = "/")]
    subject: Subject,
    /// The file to write, which must not exist. Without it, standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) async fn export(arguments: &ExportArguments) -> Result<(), CliError> {
    let engine = arguments.engine.open_existing().await?;
    let store = engine.port();
    let mut output = LineOutput::create(arguments.output.as_deref())?;
    let mut progress = ProgressDisplay::new("export", None);
    let mut events = store.read(arguments.subject.clone(), ReadOptions::recursive());
    let (mut count, mut text) = (0_u64, Vec::new());
    while let Some(event) = events.try_next().await? {
        text.clear();
        Dialect::Event.write_line(&event, None, &mut text);
        output.write(&text)?;
        count = count.saturating_add(1);
        progress.update(count);
    }
    output.finish()?;
    progress.finish();
    engine.close().await;
    report(format_args!("exported {count} events"));
    Ok(())
}

/// The arguments of `import`.
#[derive(Debug, Args)]
pub(super) struct ImportArguments {
    /// The data directory of the event store, which must not be running. The command creates a missing
    /// one.
    #[arg(long, env = "EVENT_STORE_DATA_DIR", value_name = "PATH")]
    data_directory: PathBuf,
    /// The events. Without it, standard input.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
}

pub(super) async fn import(arguments: &ImportArguments) -> Result<(), CliError> {
    let lines = NumberedLines::open(arguments.input.as_deref(), IMPORT_LINE)?;
    refuse_url(&arguments.data_directory)?;
    let store = EmbeddedStore::open(&arguments.data_directory)?;
    let mut progress = ProgressDisplay::new("import", None);
    let mut import = EventImport::new(&store);
    for (number, line) in lines {
        let line = line.map_err(|error| import.refuse_line(number, error.to_string()))?;
        let parsed = parse_candidate(&line);
        let candidate = parsed.map_err(|reason| import.refuse_line(number, reason))?;
        if let Some(candidate) = candidate {
            import.add(number, candidate).await?;
            progress.update(import.written);
        }
    }
    import.append_batch().await?;
    progress.finish();
    let written = import.written;
    store.close().await;
    report(format_args!("imported {written} events"));
    Ok(())
}

/// The events of an import, which are written in batches.
struct EventImport<'a> {
    store: &'a EmbeddedStore,
    batch: Vec<EventCandidate>,
    batch_bytes: usize,
    /// The line of the last event of the batch.
    line: usize,
    written: u64,
}

impl<'a> EventImport<'a> {
    const fn new(store: &'a EmbeddedStore) -> Self {
        Self {
            store,
            batch: Vec::new(),
            batch_bytes: 0,
            line: 0,
            written: 0,
        }
    }

    const fn refuse_line(&self, line: usize, reason: String) -> CliError {
        CliError::Import(line, reason, self.written)
    }

    /// Adds the event of a line, and writes the batch if it is full.
    async fn add(&mut self, line: usize, candidate: EventCandidate) -> Result<(), CliError> {
        let size = write_size(&candidate);
        if size > BODY_LIMIT {
            let reason = format!(
                "the event has {size} bytes, and the event store accepts {BODY_LIMIT} at most: shorten its data, or store a reference to it"
            );
            return Err(self.refuse_line(line, reason));
        }
        self.batch.push(candidate);
        self.batch_bytes = self.batch_bytes.saturating_add(size);
        self.line = line;
        if self.batch.len() >= BATCH_SIZE || self.batch_bytes >= BATCH_BYTES {
            self.append_batch().await?;
        }
        Ok(())
    }

    async fn append_batch(&mut self) -> Result<(), CliError> {
        let append = self.store.append(std::mem::take(&mut self.batch), vec![]);
        let appended = append.await;
        let failed = |error: AppendError| self.refuse_line(self.line, error.to_string());
        let recorded = appended.map_err(failed)?;
        self.batch_bytes = 0;
        let count = u64::try_from(recorded.len()).unwrap_or(u64::MAX);
        self.written = self.written.saturating_add(count);
        Ok(())
    }
}

/// Returns the size of the body that writes this event over HTTP.
fn write_size(candidate: &EventCandidate) -> usize {
    let texts = [
        EMPTY_WRITE,
        &candidate.source,
        candidate.subject.as_str(),
        candidate.event_type.as_str(),
        candidate.data.get(),
    ];
    texts
        .iter()
        .map(|text| text.len())
        .fold(0, usize::saturating_add)
}

/// A line of an export or of a backup, with the event in `payload`. A line without `payload` is itself an event, as
/// in the body of a write.
#[derive(Deserialize)]
struct ExportedLine<'a> {
    #[serde(borrow)]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct LinePayload<'a> {
    #[serde(borrow)]
    event: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CandidateFields {
    source: Arc<str>,
    #[serde(deserialize_with = "deserialize_written_subject")]
    subject: Subject,
    r#type: EventType,
    data: Box<RawValue>,
    traceparent: Option<String>,
    tracestate: Option<String>,
}

/// Parses the event of a line. Returns `None` for the end mark of a backup.
fn parse_fields(line: &[u8]) -> serde_json::Result<Option<CandidateFields>> {
    let ExportedLine { r#type, payload } = serde_json::from_slice(line)?;
    let Some(payload) = payload else {
        return serde_json::from_slice(line).map(Some);
    };
    if r#type.as_deref() == Some("end") {
        return Ok(None);
    }
    let LinePayload { event } = serde_json::from_str(payload.get())?;
    serde_json::from_str(event.unwrap_or(payload).get()).map(Some)
}

fn parse_candidate(line: &[u8]) -> Result<Option<EventCandidate>, String> {
    let Some(fields) = parse_fields(line).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    check_members(&fields.data).map_err(|error| format!("data: {error}"))?;
    let data = compact_object(&fields.data).map_err(|error| error.to_string())?;
    let trace = TraceContext::new(fields.traceparent.as_deref(), fields.tracestate.as_deref());
    Ok(Some(EventCandidate {
        source: fields.source,
        subject: fields.subject,
        event_type: fields.r#type,
        data,
        trace: trace.map_err(|error| error.to_string())?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shapes_of_an_event_are_the_same_candidate() {
        let event = r#"{"source":"tag:a","subject":"/a","type":"io.example.a","data":{"b":1.50}}"#;
        for line in [
            event.to_owned(),
            event.replace("/a", "/a/"),
            format!(r#"{{"type":"event","payload":{event}}}"#),
            format!(r#"{{"type":"event","payload":{{"event":{event},"hash":"x"}}}}"#),
        ] {
            let candidate = parse_candidate(line.as_bytes()).unwrap().unwrap();
            assert_eq!(candidate.data.get(), r#"{"b":1.50}"#);
            assert_eq!(candidate.subject.as_str(), "/a");
        }
        for broken in [
            "{",
            "{}",
            r#"{"type":"error","payload":{"error":"x"}}"#,
            "1",
            &event.replace("/a", "/a//"),
            &event.replace("1.50", r#"1.50,"c":[{"d":1,"d":2}]"#),
        ] {
            assert!(parse_candidate(broken.as_bytes()).is_err(), "{broken}");
        }
    }
}
