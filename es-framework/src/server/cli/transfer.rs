//! Events as lines of JSON, out of a store and into another one, where they get new ids.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use futures_util::TryStreamExt as _;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    CommandError,
    offline::{DataDirectory, lines},
    output::Output,
    progress::Progress,
};
use crate::{
    event::{Dialect, EventCandidate, EventType, Subject, TraceContext, compact_object},
    store::{AppendError, EventStore as _, ReadOptions, sqlite::EmbeddedStore},
};

/// How many events of an import share a write.
const BATCH: usize = 1_000;

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(flatten)]
    directory: DataDirectory,
    /// Only the events of this subject and of all below it.
    #[arg(long, default_value = "/")]
    subject: Subject,
    /// The file to write, which must not be there yet; standard output where it is left out.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) async fn export(arguments: &Export) -> Result<(), CommandError> {
    let store = arguments.directory.open()?;
    let mut output = Output::create(arguments.output.as_deref())?;
    let mut progress = Progress::of("export", None);
    let mut events = store.read(arguments.subject.clone(), ReadOptions::recursive());
    let (mut count, mut text) = (0_u64, Vec::new());
    while let Some(event) = events.try_next().await? {
        text.clear();
        Dialect::Event.write_line(&event, None, &mut text);
        output.write(&text)?;
        count = count.saturating_add(1);
        progress.at(count);
    }
    output.finish()?;
    progress.end();
    store.close().await;
    eprintln!("exported {count} events");
    Ok(())
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// The directory to write to, which is made where it is missing. No event store may be
    /// running on it.
    #[arg(long, env = "EVENT_STORE_DATA_DIR", value_name = "PATH")]
    data_directory: PathBuf,
    /// The events; standard input where it is left out.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
}

pub(super) async fn import(arguments: &Import) -> Result<(), CommandError> {
    let lines = lines(arguments.input.as_deref())?;
    let store = EmbeddedStore::open(&arguments.data_directory)?;
    let mut progress = Progress::of("import", None);
    let mut batch = Vec::with_capacity(BATCH);
    let (mut written, mut last) = (0_u64, 0_usize);
    for (number, line) in lines {
        let parsed = candidate(&line?);
        batch.push(parsed.map_err(|reason| CommandError::Import(number, reason, written))?);
        last = number;
        if batch.len() == BATCH {
            write(&store, &mut batch, number, &mut written).await?;
            progress.at(written);
        }
    }
    write(&store, &mut batch, last, &mut written).await?;
    progress.end();
    store.close().await;
    eprintln!("imported {written} events");
    Ok(())
}

async fn write(
    store: &EmbeddedStore,
    batch: &mut Vec<EventCandidate>,
    line: usize,
    written: &mut u64,
) -> Result<(), CommandError> {
    let recorded = store.append(std::mem::take(batch), vec![]).await;
    let failed = |error: AppendError| CommandError::Import(line, error.to_string(), *written);
    let recorded = recorded.map_err(failed)?.len();
    *written = written.saturating_add(u64::try_from(recorded).unwrap_or(u64::MAX));
    Ok(())
}

/// A line of an export or of a backup; an event as a client sends it has no payload.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    event: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Fields {
    source: Arc<str>,
    subject: Subject,
    r#type: EventType,
    data: Box<RawValue>,
    traceparent: Option<String>,
    tracestate: Option<String>,
}

fn fields(line: &[u8]) -> serde_json::Result<Fields> {
    let Line { payload } = serde_json::from_slice(line)?;
    let Some(payload) = payload else {
        return serde_json::from_slice(line);
    };
    let Item { event } = serde_json::from_str(payload.get())?;
    serde_json::from_str(event.unwrap_or(payload).get())
}

fn candidate(line: &[u8]) -> Result<EventCandidate, String> {
    let fields = fields(line).map_err(|error| error.to_string())?;
    let data = compact_object(&fields.data).map_err(|error| error.to_string())?;
    let trace = TraceContext::new(fields.traceparent.as_deref(), fields.tracestate.as_deref());
    Ok(EventCandidate {
        source: fields.source,
        subject: fields.subject,
        event_type: fields.r#type,
        data,
        trace: trace.map_err(|error| error.to_string())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shapes_of_an_event_are_the_same_candidate() {
        let event = r#"{"source":"tag:a","subject":"/a","type":"io.example.a","data":{"b":1.50}}"#;
        for line in [
            event.to_owned(),
            format!(r#"{{"type":"event","payload":{event}}}"#),
            format!(r#"{{"type":"event","payload":{{"event":{event},"hash":"x"}}}}"#),
        ] {
            let candidate = candidate(line.as_bytes()).unwrap();
            assert_eq!(candidate.data.get(), r#"{"b":1.50}"#);
        }
        for broken in [
            "{",
            "{}",
            r#"{"type":"error","payload":{"error":"x"}}"#,
            "1",
        ] {
            assert!(candidate(broken.as_bytes()).is_err(), "{broken}");
        }
    }
}
