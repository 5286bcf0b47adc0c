//! Memory, processor time and open files of this process, under the names that the clients of Prometheus
//! use.

use std::sync::LazyLock;

use metrics_exporter_prometheus::PrometheusRecorder;
use metrics_process::Collector;

static COLLECTOR: LazyLock<Collector> = LazyLock::new(Collector::default);

/// Measures the process now.
pub(super) fn measure_process(recorder: &PrometheusRecorder) {
    metrics::with_local_recorder(recorder, || COLLECTOR.collect());
}
