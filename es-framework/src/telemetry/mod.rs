//! What a program says about itself: its log on stderr, and traces to a collector if one is set.

mod line;
pub(crate) mod traces;
mod writer;

use std::{io, time::Instant};

use clap::ValueEnum;
use tracing::Subscriber;
use tracing_subscriber::{
    EnvFilter, Layer, filter,
    fmt::MakeWriter,
    layer::SubscriberExt as _,
    registry::{LookupSpan, Registry},
    util::SubscriberInitExt as _,
};

use crate::{Error, Result};

use traces::Exporter;
use writer::{Lines, Writing};

/// The settings of the log and of traces.
#[derive(Debug, Clone)]
pub(crate) struct TelemetrySettings {
    /// Format of the log.
    pub(crate) log_format: LogFormat,
    /// Filter of the log, such as `info,es_framework::http=off`.
    pub(crate) log_filter: String,
    /// Collector of traces that speaks OTLP over HTTP. Without it, there are no traces.
    pub(crate) otel_exporter_otlp_endpoint: Option<String>,
}

/// The shape of a log.
///
/// ```
/// use clap::ValueEnum as _;
/// use es_framework::telemetry::LogFormat;
///
/// assert_eq!(LogFormat::from_str("json", false), Ok(LogFormat::Json));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line of text for each event.
    #[default]
    Text,
    /// A JSON object for each event, on a line of its own.
    Json,
}

/// A log and traces that have begun.
#[derive(Debug)]
pub(crate) struct Telemetry {
    exporter: Option<Exporter>,
    /// Dropped last, so that the end of the traces is logged.
    _writing: Writing,
}

impl Telemetry {
    /// Begins. Not inside of an asynchronous runtime: the exporter of traces brings one of its own.
    pub(crate) fn begin(application: &'static str, settings: &TelemetrySettings) -> Result<Self> {
        let filter = filter(&settings.log_filter)?;
        let exporter = settings
            .otel_exporter_otlp_endpoint
            .as_deref()
            .map(|endpoint| Exporter::new(application, endpoint))
            .transpose()?;
        let spans = exporter
            .as_ref()
            .map(|exporter| traces::layer(exporter, application));
        let (lines, writing) = Lines::to(io::stderr())
            .map_err(|error| Error::because("the thread of the log cannot begin", error))?;
        subscriber(log(settings.log_format, filter, lines), spans)
            .try_init()
            .map_err(|error| Error::because("the log cannot begin", error))?;
        Ok(Self {
            exporter,
            _writing: writing,
        })
    }

    /// Sends the traces that were not sent yet.
    pub(crate) fn end(self) {
        if let Some(exporter) = self.exporter {
            exporter.end();
        }
    }
}

/// Logs as a program does that has no other settings for it.
pub(crate) fn log_to_stderr(filter: EnvFilter) {
    subscriber(log(LogFormat::Text, filter, io::stderr), None).init();
}

/// How long something took, as a field of the log.
pub(crate) fn milliseconds_since(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn filter(text: &str) -> Result<EnvFilter> {
    let filter = EnvFilter::builder().with_default_directive(tracing::Level::INFO.into());
    filter.parse(text).map_err(|error| {
        let message = "RUST_LOG is not a filter, such as info or es_framework=debug";
        Error::because(message, error)
    })
}

/// Where spans and events go.
type Output = Box<dyn Layer<Registry> + Send + Sync>;

/// A list, since a layer that is `None` would count as one that asks for all spans.
fn subscriber(log: Output, spans: Option<Output>) -> impl Subscriber + Send + Sync {
    let outputs: Vec<_> = std::iter::once(log).chain(spans).collect();
    tracing_subscriber::registry().with(outputs)
}

fn log<W>(format: LogFormat, filter: EnvFilter, writer: W) -> Output
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let log = tracing_subscriber::fmt::layer().with_writer(writer);
    let is_terminal = io::IsTerminal::is_terminal(&io::stderr());
    match format {
        LogFormat::Text => {
            let log = log.with_ansi(is_terminal).with_target(false);
            only_events(log.fmt_fields(line::OneLine), filter)
        }
        LogFormat::Json => {
            let log = log.with_ansi(false).json().flatten_event(true);
            only_events(log.with_current_span(false).with_span_list(false), filter)
        }
    }
}

/// Without traces nobody asks for spans then, and those that nobody asks for cost nothing.
fn only_events<S>(
    log: impl Layer<S> + Send + Sync + 'static,
    filter: EnvFilter,
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
    fn spans_cost_nothing_where_no_traces_are_collected() {
        let log = log(LogFormat::Text, filter("trace").unwrap(), io::sink);
        let span = tracing::info_span!("request");
        let interest = subscriber(log, None).register_callsite(span.metadata().unwrap());
        assert!(interest.is_never());
    }
}
