//! The file that names the sinks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use es_event::EventId;
use serde::Deserialize;

use crate::{ConfiguredSink, Sink, SinkStart, Transport, WebhookSettings, WebhookTransport};

/// The most events of a batch.
const MAX_BATCH: usize = 256;

/// A file of sinks that is refused. The reason shows no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", file.display())]
pub struct InvalidSinks {
    file: PathBuf,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SinksFile {
    sinks: BTreeMap<String, SinkTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SinkTable {
    webhook: Option<String>,
    start: toml::Value,
    types: Option<BTreeSet<String>>,
    // As a value, because the error about another type would show it.
    secrets: Option<toml::Value>,
    #[serde(default)]
    secret_files: Vec<PathBuf>,
    batch: Option<NonZeroUsize>,
    #[serde(default)]
    allow_private: bool,
}

/// Reads the sinks of a file. `published` are the types that the application publishes.
///
/// # Errors
/// The file cannot be read, or a sink is declared wrongly. The error names the sink or the line.
pub fn read_sinks(
    file: &Path,
    published: &BTreeSet<&str>,
) -> Result<Vec<ConfiguredSink>, InvalidSinks> {
    let invalid = |reason: String| InvalidSinks {
        file: file.to_owned(),
        reason,
    };
    let text = fs::read_to_string(file).map_err(|error| invalid(error.to_string()))?;
    // The error's own text would show the line, and with it perhaps a secret.
    let parsed: Result<SinksFile, _> = toml::from_str(&text);
    let parsed = parsed.map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.split('\n').count());
        invalid(format!("line {line}: {}", error.message()))
    })?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let sinks = parsed.sinks.into_iter();
    let sinks = sinks.map(|(name, table)| {
        let sink = table.into_sink(&name, folder, published);
        sink.map_err(|reason| invalid(format!("sink {name}: {reason}")))
    });
    sinks.collect()
}

impl SinkTable {
    fn into_sink(
        self,
        name: &str,
        folder: &Path,
        published: &BTreeSet<&str>,
    ) -> Result<ConfiguredSink, String> {
        let start = parse_start(&self.start)?;
        let types = self.types.iter().flatten();
        if let Some(unknown) = types.into_iter().find(|one| !published.contains(&***one)) {
            let known: Vec<_> = published.iter().copied().collect();
            let known = known.join(", ");
            return Err(format!(
                "the application does not publish {unknown}; it publishes {known}"
            ));
        }
        if self.batch.is_some_and(|batch| batch.get() > MAX_BATCH) {
            return Err(format!("a batch has at most {MAX_BATCH} events"));
        }
        Ok(ConfiguredSink {
            start,
            sink: Sink {
                name: name.into(),
                types: self.types.clone(),
                transport: self.open_transport(folder)?,
            },
        })
    }

    /// Opens the way to the receiver that the table names.
    fn open_transport(self, folder: &Path) -> Result<Box<dyn Transport>, String> {
        let secrets = self.read_secrets(folder)?;
        let url = self.webhook;
        let url = url.ok_or("it names no receiver, such as webhook = \"https://…\"")?;
        let transport = WebhookTransport::new(WebhookSettings {
            url,
            secrets,
            batch: self.batch,
            allow_private: self.allow_private,
        })?;
        Ok(Box::new(transport))
    }

    fn read_secrets(&self, folder: &Path) -> Result<Vec<String>, String> {
        let written = match &self.secrets {
            None => Vec::new(),
            Some(secrets) => {
                let secrets = secrets.as_array().into_iter().flatten();
                let secrets: Option<Vec<_>> = secrets.map(|one| one.as_str()).collect();
                let secrets = secrets.filter(|secrets| !secrets.is_empty());
                secrets.ok_or("`secrets` is a list of texts")?
            }
        };
        let files = self.secret_files.iter().map(|file| {
            let text = fs::read_to_string(folder.join(file));
            let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
            Ok(text.trim().to_owned())
        });
        let written = written.into_iter().map(|secret| Ok(secret.to_owned()));
        written.chain(files).collect()
    }
}

fn parse_start(start: &toml::Value) -> Result<SinkStart, String> {
    const EXPECTED: &str =
        "`start` is \"now\", \"first\", or the id of an event, after which the sink begins";
    let invalid = |value: &dyn Display| format!("{EXPECTED}, and not {value}");
    match start {
        toml::Value::String(word) if word == "now" => Ok(SinkStart::Now),
        toml::Value::String(word) if word == "first" => Ok(SinkStart::First),
        toml::Value::Integer(id) => {
            let event = u64::try_from(*id).ok().and_then(EventId::new);
            event.map(SinkStart::After).ok_or_else(|| invalid(id))
        }
        other => Err(invalid(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
}
