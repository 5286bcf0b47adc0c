//! The catalogue of all metrics.

use super::metric_definition::MetricDefinition;

/// The upper bounds of the buckets for request times, in seconds. A response from memory fits into the first
/// bucket. No client waits longer than the last one.
const REQUEST_SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];
/// The upper bounds of the buckets for commit times, in seconds. A fast disk flushes within the first one.
const COMMIT_SECONDS: &[f64] = &[
    0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0,
];
/// Numbers of events or appends in one batch.
const BATCH_SIZES: &[f64] = &[1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 1_000.0];
/// Numbers of events that a rebuild reads.
const REBUILD_EVENTS: &[f64] = &[
    0.0, 1.0, 2.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1_000.0, 10_000.0, 100_000.0,
];

/// Time from the head of a request to the head of its response.
pub const HTTP_DURATION: MetricDefinition = MetricDefinition::histogram(
    "http_request_duration_seconds",
    &["method", "route", "status"],
    "Time from the head of a request to the head of its response.",
    REQUEST_SECONDS,
);
/// Requests without a complete response.
pub const HTTP_IN_FLIGHT: MetricDefinition = MetricDefinition::gauge(
    "http_requests_in_flight",
    &[],
    "Requests without a complete response.",
);
/// Commands by outcome.
pub const COMMANDS: MetricDefinition = MetricDefinition::counter(
    "es_commands_total",
    &["command", "outcome", "reason"],
    "Commands by outcome.",
);
/// Decisions that were repeated because a subject changed between read and append.
pub const COMMAND_RETRIES: MetricDefinition = MetricDefinition::counter(
    "es_command_retries_total",
    &["command"],
    "Decisions that were repeated because a subject changed between read and append.",
);
/// Events that were read to rebuild a state.
pub const STATE_REBUILD: MetricDefinition = MetricDefinition::histogram(
    "es_state_rebuild_events",
    &["state"],
    "Events that were read to rebuild a state.",
    REBUILD_EVENTS,
);
/// State look-ups, by what the rebuild started from: memory, a snapshot or the first event.
pub const STATE_LOOKUPS: MetricDefinition = MetricDefinition::counter(
    "es_state_lookups_total",
    &["state", "source"],
    "State look-ups, by what the rebuild started from: memory, a snapshot or the first event.",
);
/// Time of a command's append to the embedded or external event store, by outcome.
pub const APPEND_DURATION: MetricDefinition = MetricDefinition::histogram(
    "es_append_duration_seconds",
    &["outcome"],
    "Time of a command's append to the embedded or external event store, by outcome.",
    COMMIT_SECONDS,
);
/// Time of a commit of the embedded event store, from its first precondition to the end of the flush.
pub const STORE_COMMIT_DURATION: MetricDefinition = MetricDefinition::histogram(
    "es_store_commit_duration_seconds",
    &[],
    "Time of a commit of the embedded event store, from its first precondition to the end of the flush.",
    COMMIT_SECONDS,
);
/// Events in one commit of the embedded event store.
pub const STORE_COMMIT_EVENTS: MetricDefinition = MetricDefinition::histogram(
    "es_store_commit_events",
    &[],
    "Events in one commit of the embedded event store.",
    BATCH_SIZES,
);
/// The number of appends in each commit of the embedded event store.
pub const STORE_COMMIT_APPENDS: MetricDefinition = MetricDefinition::histogram(
    "es_store_commit_appends",
    &[],
    "Appends in one commit of the embedded event store.",
    BATCH_SIZES,
);
/// Reconnects of interrupted subscriptions to an external event store.
pub const SUBSCRIPTION_RECONNECTS: MetricDefinition = MetricDefinition::counter(
    "es_subscription_reconnects_total",
    &[],
    "Reconnects of interrupted subscriptions to an external event store.",
);
/// Events that a read model has not applied yet.
pub const READ_MODEL_LAG: MetricDefinition = MetricDefinition::gauge(
    "es_read_model_lag_events",
    &["read_model"],
    "Events that a read model has not applied yet.",
);
/// Age of the oldest event that a read model has not applied yet.
pub const READ_MODEL_LAG_SECONDS: MetricDefinition = MetricDefinition::gauge(
    "es_read_model_lag_seconds",
    &["read_model"],
    "Age of the oldest event that a read model has not applied yet.",
);
/// 1 if the read model has stopped and needs an operator, else 0.
pub const READ_MODEL_STOPPED: MetricDefinition = MetricDefinition::gauge(
    "es_read_model_stopped",
    &["read_model"],
    "1 if the read model has stopped and needs an operator, else 0.",
);
/// Rows that a read model holds at events that fail alike.
pub const READ_MODEL_HELD: MetricDefinition = MetricDefinition::gauge(
    "es_read_model_held_rows",
    &["read_model", "fingerprint"],
    "Rows that a read model holds at events that fail alike.",
);
/// Time of the first event with which these rows wait, in seconds since 1970, or 0 if none waits any more.
pub const READ_MODEL_HELD_FIRST: MetricDefinition = MetricDefinition::gauge(
    "es_read_model_held_first_seconds",
    &["read_model", "fingerprint"],
    "Time of the first event with which these rows wait, in seconds since 1970, or 0 if none waits any more.",
);
/// Time of the last event with which these rows wait, in seconds since 1970, or 0 if none waits any more.
pub const READ_MODEL_HELD_LAST: MetricDefinition = MetricDefinition::gauge(
    "es_read_model_held_last_seconds",
    &["read_model", "fingerprint"],
    "Time of the last event with which these rows wait, in seconds since 1970, or 0 if none waits any more.",
);
/// Subjects that a reaction holds at events that fail alike.
pub const REACTION_HELD: MetricDefinition = MetricDefinition::gauge(
    "es_reaction_held_subjects",
    &["reaction", "fingerprint"],
    "Subjects that a reaction holds at events that fail alike.",
);
/// Of these subjects, those that the reaction retries without an operator.
pub const REACTION_WAITING: MetricDefinition = MetricDefinition::gauge(
    "es_reaction_waiting_subjects",
    &["reaction", "fingerprint"],
    "Of these subjects, those that the reaction retries without an operator, as after a failed call.",
);
/// Events that a reaction has not handled yet.
pub const REACTION_LAG: MetricDefinition = MetricDefinition::gauge(
    "es_reaction_lag_events",
    &["reaction"],
    "Events that a reaction has not handled yet.",
);
/// The number of pending deadlines that a reaction holds in memory.
pub const REACTION_DEADLINES: MetricDefinition = MetricDefinition::gauge(
    "es_reaction_open_deadlines",
    &["reaction"],
    "Pending deadlines that a reaction holds in memory.",
);
/// 1 if the reaction has stopped and needs an operator, else 0.
pub const REACTION_STOPPED: MetricDefinition = MetricDefinition::gauge(
    "es_reaction_stopped",
    &["reaction"],
    "1 if the reaction has stopped and needs an operator, else 0.",
);
/// Public events that the receiver of a sink has confirmed.
pub const SINK_DELIVERED: MetricDefinition = MetricDefinition::counter(
    "es_sink_delivered_total",
    &["sink"],
    "Public events that the receiver of a sink has confirmed.",
);
/// Deliveries to a sink that failed and are made again.
pub const SINK_FAILED: MetricDefinition = MetricDefinition::counter(
    "es_sink_failed_total",
    &["sink"],
    "Deliveries to a sink that failed and are made again.",
);

/// Open live queries.
pub const LIVE_QUERIES: MetricDefinition =
    MetricDefinition::gauge("es_live_queries", &[], "Open live queries.");

/// All metrics, in the order of the reference.
///
/// ```
/// let commands = es_observe::metrics::ALL.iter().find(|metric| metric.name == "es_commands_total");
/// assert!(commands.is_some_and(|metric| metric.labels.contains(&"command")));
/// ```
pub const ALL: &[MetricDefinition] = &[
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
    SUBSCRIPTION_RECONNECTS,
    READ_MODEL_LAG,
    READ_MODEL_LAG_SECONDS,
    READ_MODEL_STOPPED,
    READ_MODEL_HELD,
    READ_MODEL_HELD_FIRST,
    READ_MODEL_HELD_LAST,
    REACTION_HELD,
    REACTION_WAITING,
    REACTION_LAG,
    REACTION_DEADLINES,
    REACTION_STOPPED,
    SINK_DELIVERED,
    SINK_FAILED,
    LIVE_QUERIES,
    MetricDefinition::counter(
        "process_cpu_seconds_total",
        &[],
        "Processor time of the process.",
    ),
    MetricDefinition::gauge(
        "process_resident_memory_bytes",
        &[],
        "Resident memory of the process.",
    ),
    MetricDefinition::gauge(
        "process_virtual_memory_bytes",
        &[],
        "Virtual memory of the process.",
    ),
    MetricDefinition::gauge(
        "process_virtual_memory_max_bytes",
        &[],
        "Limit of the virtual memory of the process.",
    ),
    MetricDefinition::gauge(
        "process_open_fds",
        &[],
        "Open files and connections of the process.",
    ),
    MetricDefinition::gauge(
        "process_max_fds",
        &[],
        "Limit of open files and connections of the process.",
    ),
    MetricDefinition::gauge("process_threads", &[], "Threads of the process."),
    MetricDefinition::gauge(
        "process_start_time_seconds",
        &[],
        "Start time of the process, in seconds since 1970.",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{super::MetricKind, *};

    #[test]
    fn names_follow_the_conventions_of_prometheus() {
        let mut names = BTreeSet::new();
        for metric in ALL {
            assert!(names.insert(metric.name), "{} is there twice", metric.name);
            let is_counter = metric.kind == MetricKind::Counter;
            assert_eq!(metric.name.ends_with("_total"), is_counter, "{metric:?}");
            let is_histogram = metric.kind == MetricKind::Histogram;
            assert_eq!(!metric.buckets.is_empty(), is_histogram, "{metric:?}");
            assert!(metric.buckets.is_sorted_by(|one, next| one < next));
            assert!(metric.description.ends_with('.'), "{metric:?}");
        }
    }

    #[test]
    fn the_reference_lists_every_metric_as_it_is() {
        let page = include_str!("../../../../../docs/src/reference/metrics.md");
        let rows: Vec<_> = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .filter(|line| line.split('|').count() == 6)
            .map(str::to_owned)
            .collect();
        let expected: Vec<_> = ALL.iter().map(row).collect();
        assert_eq!(rows, expected);
    }

    fn row(metric: &MetricDefinition) -> String {
        let kind = match metric.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        let labels: Vec<_> = metric.labels.iter().map(|one| format!("`{one}`")).collect();
        let labels = labels.join(", ");
        let description = metric.description.trim_end_matches('.');
        format!("| `{}` | {kind} | {labels} | {description} |", metric.name)
    }
}
