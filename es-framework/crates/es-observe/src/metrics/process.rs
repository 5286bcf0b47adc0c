//! Memory, processor time and open files of this process, under the names that the clients of Prometheus
//! use. Linux has them in `/proc` (proc_pid_stat(5)); on other systems only the limits are known.

use std::{fs, sync::LazyLock};

use metrics::{counter, gauge};
use metrics_exporter_prometheus::PrometheusRecorder;
use rustix::{
    param::{clock_ticks_per_second, page_size},
    process::{Resource, getrlimit},
};

/// The time at which the system started, in seconds since 1970.
static BOOT_TIME: LazyLock<Option<u64>> = LazyLock::new(|| {
    let system = fs::read_to_string("/proc/stat").ok()?;
    let time = system.lines().find_map(|line| line.strip_prefix("btime "));
    time?.trim().parse().ok()
});

/// The numbers of `/proc/self/stat`.
struct ProcessStatus {
    processor_ticks: u64,
    threads: u64,
    /// The ticks from the start of the system to that of the process.
    start_ticks: u64,
    virtual_bytes: u64,
    resident_pages: u64,
}

impl ProcessStatus {
    fn read() -> Option<Self> {
        let text = fs::read_to_string("/proc/self/stat").ok()?;
        // The program's name may contain spaces and brackets. The third field follows it.
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<_> = fields.split_whitespace().collect();
        let field = |number: usize| fields.get(number.checked_sub(3)?)?.parse::<u64>().ok();
        Some(Self {
            processor_ticks: field(14)?.saturating_add(field(15)?),
            threads: field(20)?,
            start_ticks: field(22)?,
            virtual_bytes: field(23)?,
            resident_pages: field(24)?,
        })
    }

    fn record(&self) {
        let seconds = |ticks: u64| {
            let seconds = ticks.checked_div(clock_ticks_per_second());
            seconds.unwrap_or_default()
        };
        counter!("process_cpu_seconds_total").absolute(seconds(self.processor_ticks));
        let resident = self.resident_pages.saturating_mul(page_size() as u64);
        gauge!("process_resident_memory_bytes").set(resident as f64);
        gauge!("process_virtual_memory_bytes").set(self.virtual_bytes as f64);
        gauge!("process_threads").set(self.threads as f64);
        if let Some(boot_time) = *BOOT_TIME {
            let start = boot_time.saturating_add(seconds(self.start_ticks));
            gauge!("process_start_time_seconds").set(start as f64);
        }
    }
}

/// Measures the process now.
pub(super) fn measure_process(recorder: &PrometheusRecorder) {
    metrics::with_local_recorder(recorder, || {
        if let Some(status) = ProcessStatus::read() {
            status.record();
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            // One of them is the folder itself.
            gauge!("process_open_fds").set(files.count().saturating_sub(1) as f64);
        }
        // No limit is 0, as the clients of Prometheus write it.
        let limit = |resource| getrlimit(resource).current.unwrap_or_default() as f64;
        gauge!("process_max_fds").set(limit(Resource::Nofile));
        gauge!("process_virtual_memory_max_bytes").set(limit(Resource::As));
    });
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::super::{ALL, render};

    #[test]
    fn every_metric_of_the_process_is_measured() {
        let text = render();
        let value = |name: &str| {
            let mut values = text.lines().filter_map(|line| line.strip_prefix(name));
            let value = values.find_map(|value| value.strip_prefix(' '));
            let value = value.unwrap_or_else(|| panic!("no {name} in {text}"));
            value.parse::<f64>().unwrap()
        };
        for metric in ALL
            .iter()
            .filter(|metric| metric.name.starts_with("process_"))
        {
            assert!(value(metric.name) >= 0.0);
        }
        assert!(value("process_resident_memory_bytes") > 1_000_000.0);
        assert!(value("process_virtual_memory_bytes") > value("process_resident_memory_bytes"));
        assert!(value("process_threads") >= 2.0);
        assert!((3.0..value("process_max_fds")).contains(&value("process_open_fds")));
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
        let start = value("process_start_time_seconds");
        assert!((now - 86_400.0..=now + 1.0).contains(&start), "{start}");
    }
}
