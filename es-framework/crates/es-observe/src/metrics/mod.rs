//! Metrics for Prometheus. The catalogue defines every metric. The program registers a metric once per set
//! of labels, and labels contain only names that the application declares.

#[doc(hidden)]
pub mod catalogue;
mod metric_definition;
mod process;
mod registered_metrics;
mod store_metrics;

use std::{sync::LazyLock, time::Duration};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Label, Level, Metadata, Recorder as _};
use metrics_exporter_prometheus::{
    BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};

pub use catalogue::ALL;
pub use metric_definition::{MetricDefinition, MetricKind};
pub use registered_metrics::RegisteredMetrics;
pub use store_metrics::measure_stores;

/// The interval at which values of histograms move into their buckets. Until then, each value takes
/// memory.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The name and the value of a label.
pub(crate) type LabelPair<'a> = (&'static str, &'a str);

/// The recorder of all metrics, and the handle that renders them.
struct MetricsRecorder {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

static RECORDER: LazyLock<MetricsRecorder> = LazyLock::new(|| {
    let builder = with_buckets(PrometheusBuilder::new()).unwrap_or_else(|error| {
        // Only empty buckets are an error, and a test of the catalogue rejects them.
        tracing::error!(%error, "histograms appear as summaries");
        PrometheusBuilder::new()
    });
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    describe_all(&recorder);
    let upkeep = handle.clone();
    let builder = std::thread::Builder::new().name("metrics".into());
    let started = builder.spawn(move || {
        loop {
            std::thread::sleep(UPKEEP_INTERVAL);
            upkeep.run_upkeep();
        }
    });
    if let Err(error) = started {
        tracing::warn!(%error, "the upkeep thread of the metrics cannot start: metrics use more memory until somebody reads them");
    }
    MetricsRecorder { recorder, handle }
});

fn with_buckets(builder: PrometheusBuilder) -> Result<PrometheusBuilder, BuildError> {
    ALL.iter().try_fold(builder, |builder, metric| {
        if metric.buckets.is_empty() {
            return Ok(builder);
        }
        builder.set_buckets_for_metric(Matcher::Full(metric.name.into()), metric.buckets)
    })
}

fn describe_all(recorder: &PrometheusRecorder) {
    for metric in ALL {
        let (name, description) = (KeyName::from(metric.name), metric.description.into());
        match metric.kind {
            MetricKind::Counter => recorder.describe_counter(name, None, description),
            MetricKind::Gauge => recorder.describe_gauge(name, None, description),
            MetricKind::Histogram => recorder.describe_histogram(name, None, description),
        }
    }
}

const METADATA: Metadata<'static> = Metadata::new("es_framework", Level::INFO, None);

fn key(metric: &MetricDefinition, labels: &[LabelPair<'_>]) -> Key {
    let to_label = |(name, value): &LabelPair<'_>| Label::new(*name, (*value).to_owned());
    Key::from_parts(metric.name, labels.iter().map(to_label).collect::<Vec<_>>())
}

/// Returns the counter with these labels.
#[doc(hidden)]
pub fn counter(metric: &MetricDefinition, labels: &[LabelPair<'_>]) -> Counter {
    RECORDER
        .recorder
        .register_counter(&key(metric, labels), &METADATA)
}

/// Returns the gauge with these labels.
#[doc(hidden)]
pub fn gauge(metric: &MetricDefinition, labels: &[LabelPair<'_>]) -> Gauge {
    RECORDER
        .recorder
        .register_gauge(&key(metric, labels), &METADATA)
}

/// Returns the histogram with these labels.
#[doc(hidden)]
pub fn histogram(metric: &MetricDefinition, labels: &[LabelPair<'_>]) -> Histogram {
    RECORDER
        .recorder
        .register_histogram(&key(metric, labels), &METADATA)
}

/// Makes this the recorder for the macros of the crate `metrics`, so that metrics of the application
/// appear, too.
#[doc(hidden)]
pub fn install() {
    if metrics::set_global_recorder(&RECORDER.recorder).is_err() {
        tracing::info!("the application has another recorder for the macros of the crate metrics");
    }
}

/// Renders all metrics in Prometheus' text format.
///
/// ```
/// let text = es_observe::metrics::render();
/// assert!(text.contains("process_resident_memory_bytes"));
/// ```
#[must_use]
pub fn render() -> String {
    process::measure_process(&RECORDER.recorder);
    RECORDER.handle.render()
}

#[cfg(test)]
mod tests {
    use super::{catalogue::STORE_COMMIT_EVENTS, *};

    #[test]
    fn what_is_measured_is_rendered_with_its_meaning() {
        histogram(&STORE_COMMIT_EVENTS, &[]).record(3.0);
        let text = render();
        assert!(
            text.contains("# TYPE es_store_commit_events histogram"),
            "{text}"
        );
        assert!(text.contains("# HELP es_store_commit_events "), "{text}");
        assert!(
            text.contains("es_store_commit_events_bucket{le=\"5\"}"),
            "{text}"
        );
        let memory = text
            .lines()
            .find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
        assert!(
            memory.unwrap().parse::<f64>().unwrap() > 1_000_000.0,
            "{text}"
        );
    }
}
