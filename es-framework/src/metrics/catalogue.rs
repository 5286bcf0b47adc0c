//! Every metric of the framework: its name, what its labels hold, its buckets, what it means.

/// What sort of number a metric is.
///
/// ```
/// use es_framework::metrics::{ALL, Kind};
///
/// let is_counter = |name: &str| name.ends_with("_total");
/// assert!(ALL.iter().all(|metric| is_counter(metric.name) == (metric.kind == Kind::Counter)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One that only grows.
    Counter,
    /// One that goes up and down.
    Gauge,
    /// Many, counted in buckets; their number is `<name>_count` and their sum `<name>_sum`.
    Histogram,
}

/// A metric.
///
/// ```
/// let names: Vec<_> = es_framework::metrics::ALL.iter().map(|metric| metric.name).collect();
/// assert!(names.contains(&"es_commands_total"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Its name, with the unit last.
    pub name: &'static str,
    /// What sort of number it is.
    pub kind: Kind,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// What it tells.
    pub meaning: &'static str,
    /// The upper ends of a histogram's buckets.
    pub buckets: &'static [f64],
}

impl Metric {
    const fn counter(
        name: &'static str,
        labels: &'static [&'static str],
        meaning: &'static str,
    ) -> Self {
        Self {
            name,
            kind: Kind::Counter,
            labels,
            meaning,
            buckets: &[],
        }
    }

    const fn gauge(
        name: &'static str,
        labels: &'static [&'static str],
        meaning: &'static str,
    ) -> Self {
        Self {
            kind: Kind::Gauge,
            ..Self::counter(name, labels, meaning)
        }
    }

    const fn histogram(
        name: &'static str,
        labels: &'static [&'static str],
        meaning: &'static str,
        buckets: &'static [f64],
    ) -> Self {
        Self {
            kind: Kind::Histogram,
            buckets,
            ..Self::counter(name, labels, meaning)
        }
    }
}

/// Seconds, from an answer out of memory to one that somebody gave up waiting for.
const REQUEST_SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];
/// Seconds, from the flush of a fast disk to that of a very slow one.
const COMMIT_SECONDS: &[f64] = &[
    0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0,
];
const BATCH: &[f64] = &[1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 1_000.0];
const REBUILD: &[f64] = &[
    0.0, 1.0, 2.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1_000.0, 10_000.0, 100_000.0,
];

pub(crate) const HTTP_DURATION: Metric = Metric::histogram(
    "http_request_duration_seconds",
    &["method", "route", "status"],
    "Time from the head of a request to the head of its answer.",
    REQUEST_SECONDS,
);
pub(crate) const HTTP_IN_FLIGHT: Metric = Metric::gauge(
    "http_requests_in_flight",
    &[],
    "Requests that are being answered.",
);
pub(crate) const COMMANDS: Metric = Metric::counter(
    "es_commands_total",
    &["command", "outcome", "reason"],
    "Commands by how they ended.",
);
pub(crate) const COMMAND_RETRIES: Metric = Metric::counter(
    "es_command_retries_total",
    &["command"],
    "Decisions that were made anew since a subject had moved between read and write.",
);
pub(crate) const STATE_REBUILD: Metric = Metric::histogram(
    "es_state_rebuild_events",
    &["state"],
    "Events that were read to rebuild a state.",
    REBUILD,
);
pub(crate) const STATE_LOOKUPS: Metric = Metric::counter(
    "es_state_lookups_total",
    &["state", "found"],
    "States that were asked for, by what was known of them.",
);
pub(crate) const APPEND_DURATION: Metric = Metric::histogram(
    "es_append_duration_seconds",
    &["outcome"],
    "Time of a command's append to the event store, whichever it is, by how it ended.",
    COMMIT_SECONDS,
);
pub(crate) const STORE_COMMIT_DURATION: Metric = Metric::histogram(
    "es_store_commit_duration_seconds",
    &[],
    "Time of a commit of the embedded event store, from its first check to the end of the flush.",
    COMMIT_SECONDS,
);
pub(crate) const STORE_COMMIT_EVENTS: Metric = Metric::histogram(
    "es_store_commit_events",
    &[],
    "Events that the embedded event store wrote in one commit.",
    BATCH,
);
pub(crate) const STORE_COMMIT_APPENDS: Metric = Metric::histogram(
    "es_store_commit_appends",
    &[],
    "Appends that the embedded event store answered after one commit.",
    BATCH,
);
pub(crate) const OBSERVE_RECONNECTS: Metric = Metric::counter(
    "es_observe_reconnects_total",
    &[],
    "Times that an observation of a remote event store broke off and was begun again.",
);
pub(crate) const READ_MODEL_LAG: Metric = Metric::gauge(
    "es_read_model_lag_events",
    &["read_model"],
    "Events that a read model has not taken yet.",
);
pub(crate) const READ_MODEL_LAG_SECONDS: Metric = Metric::gauge(
    "es_read_model_lag_seconds",
    &["read_model"],
    "Age of the oldest event that a read model has not taken yet.",
);
pub(crate) const READ_MODEL_STOPPED: Metric = Metric::gauge(
    "es_read_model_stopped",
    &["read_model"],
    "1 if an event stopped the read model that it cannot take, else 0.",
);
pub(crate) const REACTION_LAG: Metric = Metric::gauge(
    "es_reaction_lag_events",
    &["reaction"],
    "Events that a reaction has not taken yet.",
);
pub(crate) const REACTION_DEADLINES: Metric = Metric::gauge(
    "es_reaction_open_deadlines",
    &["reaction"],
    "Deadlines that a reaction waits for, of those that it keeps in memory.",
);
pub(crate) const REACTION_STOPPED: Metric = Metric::gauge(
    "es_reaction_stopped",
    &["reaction"],
    "1 if an event stopped the reaction that it cannot deal with, else 0.",
);

pub(crate) const LIVE_QUERIES: Metric =
    Metric::gauge("es_live_queries", &[], "Live queries that are open.");

/// All of them, in the order of the reference.
///
/// ```
/// let commands = es_framework::metrics::ALL.iter().find(|metric| metric.name == "es_commands_total");
/// assert!(commands.is_some_and(|metric| metric.labels.contains(&"command")));
/// ```
pub const ALL: &[Metric] = &[
    HTTP_DURATION,
    HTTP_IN_FLIGHT,
    COMMANDS,
    COMMAND_RETRIES,
    STATE_REBUILD,
    STATE_LOOKUPS,
    APPEND_DURATION,
    STORE_COMMIT_DURATION,
    STORE_COMMIT_EVENTS,
    STORE_COMMIT_APPENDS,
    OBSERVE_RECONNECTS,
    READ_MODEL_LAG,
    READ_MODEL_LAG_SECONDS,
    READ_MODEL_STOPPED,
    REACTION_LAG,
    REACTION_DEADLINES,
    REACTION_STOPPED,
    LIVE_QUERIES,
    Metric::counter(
        "process_cpu_seconds_total",
        &[],
        "Processor time of the process.",
    ),
    Metric::gauge(
        "process_resident_memory_bytes",
        &[],
        "Memory of the process that is in use.",
    ),
    Metric::gauge(
        "process_virtual_memory_bytes",
        &[],
        "Addresses that the process has reserved.",
    ),
    Metric::gauge(
        "process_virtual_memory_max_bytes",
        &[],
        "Addresses that the process may reserve.",
    ),
    Metric::gauge(
        "process_open_fds",
        &[],
        "Open files and connections of the process.",
    ),
    Metric::gauge(
        "process_max_fds",
        &[],
        "Files and connections that the process may open.",
    ),
    Metric::gauge("process_threads", &[], "Threads of the process."),
    Metric::gauge(
        "process_start_time_seconds",
        &[],
        "When the process began, in seconds since 1970.",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_follow_the_conventions_of_prometheus() {
        let mut names = BTreeSet::new();
        for metric in ALL {
            assert!(names.insert(metric.name), "{} is there twice", metric.name);
            let is_counter = metric.kind == Kind::Counter;
            assert_eq!(metric.name.ends_with("_total"), is_counter, "{metric:?}");
            let is_histogram = metric.kind == Kind::Histogram;
            assert_eq!(!metric.buckets.is_empty(), is_histogram, "{metric:?}");
            assert!(metric.buckets.is_sorted_by(|one, next| one < next));
            assert!(metric.meaning.ends_with('.'), "{metric:?}");
        }
    }

    #[test]
    fn the_reference_lists_every_metric_as_it_is() {
        let page = include_str!("../../../docs/src/reference/metrics.md");
        let rows: Vec<_> = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .filter(|line| line.split('|').count() == 6)
            .map(str::to_owned)
            .collect();
        let expected: Vec<_> = ALL.iter().map(row).collect();
        assert_eq!(rows, expected);
    }

    fn row(metric: &Metric) -> String {
        let kind = match metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let labels: Vec<_> = metric.labels.iter().map(|one| format!("`{one}`")).collect();
        let labels = labels.join(", ");
        let meaning = metric.meaning.trim_end_matches('.');
        format!("| `{}` | {kind} | {labels} | {meaning} |", metric.name)
    }
}
