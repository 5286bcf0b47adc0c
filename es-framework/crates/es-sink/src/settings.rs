//! The file that names the sinks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use es_event::EventId;
use serde::Deserialize;

use crate::{ConfiguredSink, Sink, SinkStart, Transport, WebhookSettings, WebhookTransport};
#[cfg(feature = "nats")]
use crate::{NatsSettings, NatsTransport};

/// The most events of a batch.
const MAX_BATCH: usize = 256;

/// The requests of a sink without batches that are on their way at once.
const MAX_RUNNING: usize = 16;

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
    nats: Option<String>,
    start: toml::Value,
    types: Option<BTreeSet<String>>,
    // As a value, because the error about another type would show it.
    secrets: Option<toml::Value>,
    #[serde(default)]
    secret_files: Vec<PathBuf>,
    batch: Option<NonZeroUsize>,
    #[serde(default)]
    allow_private: bool,
    subject: Option<String>,
    credentials_file: Option<PathBuf>,
    token_file: Option<PathBuf>,
    ca_file: Option<PathBuf>,
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
        let mut types = self.types.iter().flatten();
        if let Some(unknown) = types.find(|one| !published.contains(one.as_str())) {
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
                max_running: self
                    .batch
                    .map_or(MAX_RUNNING, |batch| batch.get().max(MAX_RUNNING)),
                transport: self.open_transport(folder)?,
            },
        })
    }

    /// Opens the way to the receiver that the table names.
    fn open_transport(self, folder: &Path) -> Result<Box<dyn Transport>, String> {
        if self.nats.is_some() {
            return self.open_nats(folder);
        }
        let files = [&self.credentials_file, &self.token_file, &self.ca_file];
        if self.subject.is_some() || files.into_iter().any(Option::is_some) {
            return Err(
                "`subject`, `credentials_file`, `token_file` and `ca_file` need `nats`".to_owned(),
            );
        }
        let secrets = self.read_secrets(folder)?;
        let url = self.webhook;
        let url = url
            .ok_or("it names no receiver, such as webhook = \"https://…\" or nats = \"tls://…\"")?;
        let transport = WebhookTransport::new(WebhookSettings {
            url,
            secrets,
            batch: self.batch,
            allow_private: self.allow_private,
        })?;
        Ok(Box::new(transport))
    }

    #[cfg(feature = "nats")]
    fn open_nats(self, folder: &Path) -> Result<Box<dyn Transport>, String> {
        let has_secret = self.secrets.is_some() || !self.secret_files.is_empty();
        if self.webhook.is_some() || has_secret || self.batch.is_some() || self.allow_private {
            return Err(
                "`webhook`, `secrets`, `secret_files`, `batch` and `allow_private` do not go with `nats`"
                    .to_owned(),
            );
        }
        let in_folder = |file: Option<PathBuf>| file.map(|file| folder.join(file));
        let transport = NatsTransport::new(NatsSettings {
            servers: self.nats.unwrap_or_default(),
            subject: self.subject.ok_or(
                "`nats` needs the first part of a NATS subject, such as subject = \"library\"",
            )?,
            credentials_file: in_folder(self.credentials_file),
            token_file: in_folder(self.token_file),
            ca_file: in_folder(self.ca_file),
        })?;
        Ok(Box::new(transport))
    }

    #[cfg(not(feature = "nats"))]
    fn open_nats(self, _: &Path) -> Result<Box<dyn Transport>, String> {
        Err("`nats` needs the feature `nats` of es-framework, without which this program was compiled".to_owned())
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
    let start = match start {
        toml::Value::String(word) if word == "now" => Some(SinkStart::Now),
        toml::Value::String(word) if word == "first" => Some(SinkStart::First),
        toml::Value::Integer(id) => {
            let event = u64::try_from(*id).ok().and_then(EventId::new);
            event.map(SinkStart::After)
        }
        _ => None,
    };
    start.ok_or_else(|| {
        "`start` is \"now\", \"first\", or the id of an event, behind which the sink begins"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn read(text: &str) -> Result<Vec<ConfiguredSink>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sinks.toml");
        fs::write(&file, text).unwrap();
        fs::write(folder.path().join("erp.secret"), format!("{SECRET}\n")).unwrap();
        let published = BTreeSet::from(["com.example.CopyLent.v1", "com.example.CopyReturned.v1"]);
        read_sinks(&file, &published).map_err(|error| {
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("MfKQ9r8G"), "{shown}");
            error.reason
        })
    }

    #[test]
    fn a_sink_has_a_receiver_a_start_and_a_filter() {
        let text = format!(
            "[sinks.erp]\nwebhook = \"https://erp.example.com/events\"\nstart = \"now\"\nsecrets = [\"{SECRET}\"]\n\
             [sinks.shop]\nwebhook = \"https://shop.example.com/\"\nstart = 42\nbatch = 50\nsecret_files = [\"erp.secret\"]\n\
             types = [\"com.example.CopyLent.v1\"]\n"
        );
        let sinks = read(&text).unwrap();
        let [erp, shop] = &sinks[..] else {
            panic!("{sinks:?}");
        };
        assert_eq!((&*erp.sink.name, erp.start), ("erp", SinkStart::Now));
        assert_eq!(Some(shop.start), EventId::new(42).map(SinkStart::After));
        assert!(erp.sink.receives("com.example.CopyReturned.v1"));
        assert!(!shop.sink.receives("com.example.CopyReturned.v1"));
        assert!(!format!("{sinks:?}").contains("MfKQ9r8G"));
    }

    #[test]
    fn a_wrong_file_says_where_it_is_wrong_and_shows_no_secret() {
        let sink =
            format!("[sinks.erp]\nwebhook = \"https://example.com/\"\nsecrets = [\"{SECRET}\"]\n");
        for (text, expected) in [
            (
                format!("{sink}start = \"now\"\nretries = 3\n"),
                "line 5: unknown field `retries`",
            ),
            (sink.clone(), "line 1: missing field `start`"),
            (
                format!("{sink}start = \"soon\"\n"),
                "sink erp: `start` is \"now\"",
            ),
            (
                format!("{sink}start = \"now\"\ntypes = [\"com.example.Lent.v1\"]\n"),
                "sink erp: the application does not publish com.example.Lent.v1",
            ),
            (
                format!("{sink}start = \"now\"\nbatch = 1000\n"),
                "sink erp: a batch has at most 256 events",
            ),
            (
                format!(
                    "[sinks.erp]\nstart = \"now\"\nwebhook = \"https://example.com/\"\nsecrets = \"{SECRET}\"\n"
                ),
                "sink erp: `secrets` is a list of texts",
            ),
            (
                format!(
                    "[sinks.erp]\nstart = \"now\"\nwebhook = \"https://example.com/\"\nsecrets = [\"{SECRET}\" 1]\n"
                ),
                "line 4: ",
            ),
            (
                "[sinks.erp]\nstart = \"now\"\nwebhook = \"https://example.com/\"\n".to_owned(),
                "sink erp: a webhook has one secret",
            ),
            (
                format!("[sinks.erp]\nstart = \"now\"\nsecrets = [\"{SECRET}\"]\n"),
                "sink erp: it names no receiver",
            ),
            (
                format!(
                    "[sinks.erp]\nwebhook = \"https://10.0.0.1/\"\nstart = \"now\"\nsecrets = [\"{SECRET}\"]\n"
                ),
                "sink erp: 10.0.0.1 is no public address",
            ),
        ] {
            let reason = read(&text).unwrap_err();
            assert!(reason.starts_with(expected), "{reason}\n{expected}");
        }
    }
}
