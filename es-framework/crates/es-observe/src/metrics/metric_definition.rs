//! The definition of a metric: name, kind, labels, buckets and description.

/// The kind of a metric.
///
/// ```
/// use es_observe::metrics::{ALL, MetricKind};
///
/// let is_counter = |name: &str| name.ends_with("_total");
/// assert!(ALL.iter().all(|metric| is_counter(metric.name) == (metric.kind == MetricKind::Counter)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// A number that only grows.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// Numbers counted in buckets. Their count is `<name>_count` and their sum `<name>_sum`.
    Histogram,
}

/// The definition of a metric.
///
/// ```
/// let names: Vec<_> = es_observe::metrics::ALL.iter().map(|metric| metric.name).collect();
/// assert!(names.contains(&"es_commands_total"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricDefinition {
    /// The name, with the unit last.
    pub name: &'static str,
    /// The kind of the metric.
    pub kind: MetricKind,
    /// The names of the labels.
    pub labels: &'static [&'static str],
    /// The description, one sentence.
    pub description: &'static str,
    /// The upper bounds of a histogram's buckets.
    pub buckets: &'static [f64],
}

impl MetricDefinition {
    pub(super) const fn counter(
        name: &'static str,
        labels: &'static [&'static str],
        description: &'static str,
    ) -> Self {
        Self {
            name,
            kind: MetricKind::Counter,
            labels,
            description,
            buckets: &[],
        }
    }

    pub(super) const fn gauge(
        name: &'static str,
        labels: &'static [&'static str],
        description: &'static str,
    ) -> Self {
        Self {
            kind: MetricKind::Gauge,
            ..Self::counter(name, labels, description)
        }
    }

    pub(super) const fn histogram(
        name: &'static str,
        labels: &'static [&'static str],
        description: &'static str,
        buckets: &'static [f64],
    ) -> Self {
        Self {
            kind: MetricKind::Histogram,
            buckets,
            ..Self::counter(name, labels, description)
        }
    }
}
