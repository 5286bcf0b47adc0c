//! The log on standard error, and the traces that go to a collector if one is configured.

mod log_writer;
mod single_line;
#[cfg_attr(not(feature = "otel"), path = "no_traces.rs")]
#[doc(hidden)]
pub mod traces;

use std::{env, io, time::Instant};

use clap::ValueEnum;
use es_event::{Error, Result};
use tracing::Subscriber;
use tracing_subscriber::{
    Layer, Registry,
    filter::{self, LevelFilter, Targets},
    fmt::MakeWriter,
    layer::SubscriberExt as _,
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

use log_writer::LogWriterGuard;
use traces::TraceExporter;

/// A layer that receives spans and log records.
type TelemetryLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// The settings of the log and of traces.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct TelemetrySettings {
    /// Format of the log.
    pub log_format: LogFormat,
    /// Filter of the log, such as `info,es_framework::http=debug`.
    pub log_filter: String,
    /// Collector of traces that speaks OTLP over HTTP. Without it, there are no traces.
    pub otel_exporter_otlp_endpoint: Option<String>,
}

/// The format of the log.
///
/// ```
/// use clap::ValueEnum as _;
/// use es_observe::telemetry::LogFormat;
///
/// assert_eq!(LogFormat::from_str("json", false), Ok(LogFormat::Json));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line of text for each log record.
    #[default]
    Text,
    /// A line with a JSON object for each log record.
    Json,
}

/// The running log and the running traces.
#[doc(hidden)]
#[derive(Debug)]
pub struct Telemetry {
    exporter: Option<TraceExporter>,
    /// Dropped last, so that the end of the traces is logged.
    _log_writer: LogWriterGuard,
}

impl Telemetry {
    /// Starts the log and the traces. Call it outside an asynchronous runtime, because the exporter
    /// of traces starts its own.
    pub fn start(application: &'static str, settings: &TelemetrySettings) -> Result<Self> {
        let filter = filter(&settings.log_filter)?;
        let exporter = settings
            .otel_exporter_otlp_endpoint
            .as_deref()
            .map(|endpoint| TraceExporter::new(application, endpoint))
            .transpose()?;
        let spans = exporter
            .as_ref()
            .map(|exporter| traces::layer(exporter, application));
        let (writer, _log_writer) = log_writer::start_writer_thread(io::stderr());
        subscriber(log(settings.log_format, filter, writer), spans)
            .try_init()
            .map_err(|error| Error::because("the log cannot start", error))?;
        Ok(Self {
            exporter,
            _log_writer,
        })
    }

    /// Sends the traces that were not sent yet, and ends.
    pub fn shut_down(self) {
        if let Some(exporter) = self.exporter {
            exporter.shut_down();
        }
    }
}

/// Starts a log of text lines on standard error. Without a valid `RUST_LOG`, this level is logged.
#[doc(hidden)]
pub fn log_to_stderr(level: LevelFilter) {
    let text = env::var("RUST_LOG").ok();
    let given = text.and_then(|text| filter(&text).ok());
    let targets = given.unwrap_or_else(|| Targets::new().with_default(level));
    subscriber(log(LogFormat::Text, targets, io::stderr), None).init();
}

/// Returns the time since `begin`, as a field of the log.
#[doc(hidden)]
pub fn milliseconds_since(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Parses the log filter of `RUST_LOG`. It has levels and modules alone, because the log has no spans. The notices of
/// PostgreSQL, such as that a table exists already, are logged only if the filter names them.
fn filter(text: &str) -> Result<Targets> {
    const NOTICES: &str = "sqlx::postgres::notice=warn";
    let parts = text.split(',').map(str::trim);
    let given: Vec<_> = parts.filter(|one| !one.is_empty()).collect();
    let default = given.is_empty().then_some("info");
    let directives: Vec<_> = [NOTICES].into_iter().chain(default).chain(given).collect();
    directives.join(",").parse().map_err(|error| {
        let message = "RUST_LOG is not a filter, such as info or es_framework=debug";
        Error::because(message, error)
    })
}

/// Collects the layers in a list, because a layer that is `None` would request all spans.
fn subscriber(log: TelemetryLayer, spans: Option<TelemetryLayer>) -> impl Subscriber + Send + Sync {
    let layers: Vec<_> = std::iter::once(log).chain(spans).collect();
    tracing_subscriber::registry().with(layers)
}

/// Creates the layer that writes the log.
fn log<W>(format: LogFormat, filter: Targets, writer: W) -> TelemetryLayer
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let log = tracing_subscriber::fmt::layer().with_writer(writer);
    let is_terminal = io::IsTerminal::is_terminal(&io::stderr());
    match format {
        LogFormat::Text => {
            let log = log.with_ansi(is_terminal).with_target(false);
            only_events(log.fmt_fields(single_line::SingleLineFields), filter)
        }
        LogFormat::Json => {
            let log = log.with_ansi(false).json().flatten_event(true);
            only_events(log.with_current_span(false).with_span_list(false), filter)
        }
    }
}

/// Restricts a layer to log records. Without a collector, no layer requests spans then, and spans that no
/// layer requests cost nothing.
fn only_events<S>(
    log: impl Layer<S> + Send + Sync + 'static,
    filter: Targets,
) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    log.with_filter(filter)
        .with_filter(filter::filter_fn(|metadata| metadata.is_event()))
        .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_has_levels_and_modules() {
        let enables = |text: &str, target: &str, level: tracing::Level| {
            filter(text).unwrap().would_enable(target, &level)
        };
        use tracing::Level;
        for text in ["", " ", "info", "INFO,", "info, es_framework::http=off"] {
            assert!(enables(text, "es_store", Level::INFO), "{text}");
            assert!(!enables(text, "es_store", Level::DEBUG), "{text}");
        }
        assert!(!enables(
            "info, es_framework::http=off",
            "es_framework::http::log",
            Level::ERROR
        ));
        assert!(enables("es_store=debug", "es_store::write", Level::DEBUG));
        assert!(!enables("es_store=debug", "es_read", Level::ERROR));
        let notices = "sqlx::postgres::notice";
        for text in ["", "info", "debug"] {
            assert!(!enables(text, notices, Level::INFO), "{text}");
            assert!(enables(text, notices, Level::WARN), "{text}");
        }
        let asked = format!("info,{notices}=info");
        assert!(enables(&asked, notices, Level::INFO));
        assert!(
            filter("a=b=c")
                .unwrap_err()
                .to_string()
                .starts_with("RUST_LOG is not a filter")
        );
    }

    #[test]
    fn spans_cost_nothing_where_no_traces_are_collected() {
        let log = log(LogFormat::Text, filter("trace").unwrap(), io::sink);
        let span = tracing::info_span!("request");
        let interest = subscriber(log, None).register_callsite(span.metadata().unwrap());
        assert!(interest.is_never());
    }
}
