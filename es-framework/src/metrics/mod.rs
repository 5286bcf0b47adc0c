//! What Prometheus is told: every metric stands in the catalogue, is registered once for each set
//! of its labels, and labels only ever hold what the application declared.

mod catalogue;
mod handles;
mod process;

use std::{sync::LazyLock, time::Duration};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Label, Level, Metadata, Recorder as _};
use metrics_exporter_prometheus::{
    BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};

pub use catalogue::{ALL, Kind, Metric};
pub(crate) use catalogue::{
    APPEND_DURATION, COMMAND_RETRIES, COMMANDS, HTTP_DURATION, HTTP_IN_FLIGHT, LIVE_QUERIES,
    OBSERVE_RECONNECTS, REACTION_DEADLINES, REACTION_LAG, REACTION_STOPPED, READ_MODEL_LAG,
    READ_MODEL_LAG_SECONDS, READ_MODEL_STOPPED, STATE_LOOKUPS, STATE_REBUILD, STORE_COMMIT_APPENDS,
    STORE_COMMIT_DURATION, STORE_COMMIT_EVENTS,
};
pub(crate) use handles::Handles;

/// How often what histograms gathered is folded into their buckets; until then each value is kept.
const UPKEEP: Duration = Duration::from_secs(1);

/// The name and value of a label.
pub(crate) type Pair<'a> = (&'static str, &'a str);

struct Collected {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

static COLLECTED: LazyLock<Collected> = LazyLock::new(|| {
    let builder = buckets(PrometheusBuilder::new()).unwrap_or_else(|error| {
        // Cannot be: the catalogue's test asks for buckets in each histogram.
        tracing::error!(%error, "histograms are shown as summaries");
        PrometheusBuilder::new()
    });
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    describe(&recorder);
    let upkeep = handle.clone();
    let thread = std::thread::Builder::new().name("metrics".into());
    let thread = thread.spawn(move || {
        loop {
            std::thread::sleep(UPKEEP);
            upkeep.run_upkeep();
        }
    });
    if let Err(error) = thread {
        tracing::warn!(%error, "metrics take more and more memory until they are read");
    }
    Collected { recorder, handle }
});

fn buckets(builder: PrometheusBuilder) -> Result<PrometheusBuilder, BuildError> {
    ALL.iter().try_fold(builder, |builder, metric| {
        if metric.buckets.is_empty() {
            return Ok(builder);
        }
        builder.set_buckets_for_metric(Matcher::Full(metric.name.into()), metric.buckets)
    })
}

fn describe(recorder: &PrometheusRecorder) {
    for metric in ALL {
        let (name, meaning) = (KeyName::from(metric.name), metric.meaning.into());
        match metric.kind {
            Kind::Counter => recorder.describe_counter(name, None, meaning),
            Kind::Gauge => recorder.describe_gauge(name, None, meaning),
            Kind::Histogram => recorder.describe_histogram(name, None, meaning),
        }
    }
}

const METADATA: Metadata<'static> = Metadata::new("es_framework", Level::INFO, None);

fn key(metric: &Metric, labels: &[Pair<'_>]) -> Key {
    let labels = labels
        .iter()
        .map(|(name, value)| Label::new(*name, (*value).to_owned()));
    Key::from_parts(metric.name, labels.collect::<Vec<_>>())
}

pub(crate) fn counter(metric: &Metric, labels: &[Pair<'_>]) -> Counter {
    COLLECTED
        .recorder
        .register_counter(&key(metric, labels), &METADATA)
}

pub(crate) fn gauge(metric: &Metric, labels: &[Pair<'_>]) -> Gauge {
    COLLECTED
        .recorder
        .register_gauge(&key(metric, labels), &METADATA)
}

pub(crate) fn histogram(metric: &Metric, labels: &[Pair<'_>]) -> Histogram {
    COLLECTED
        .recorder
        .register_histogram(&key(metric, labels), &METADATA)
}

/// Has what an application records with the macros of the `metrics` crate shown, too.
pub(crate) fn install() {
    if metrics::set_global_recorder(&COLLECTED.recorder).is_err() {
        tracing::info!("the application collects metrics of its own elsewhere");
    }
}

/// Everything that was measured, in Prometheus' text format.
///
/// ```
/// let text = es_framework::metrics::render();
/// assert!(text.contains("process_resident_memory_bytes"));
/// ```
#[must_use]
pub fn render() -> String {
    let collected = &*COLLECTED;
    process::collect(&collected.recorder);
    collected.handle.render()
}

#[cfg(test)]
mod tests {
    use super::*;

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
