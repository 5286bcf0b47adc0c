//! The processor time of another process.

use std::{thread::sleep, time::Duration};

/// Fails if a process uses more than `most` hundredths of a second of processor time in each of five periods.
/// The end of its start may be in the first ones.
pub(crate) fn assert_idle(process: u32, period: Duration, most: u64) {
    let mut times = Vec::new();
    while times.len() < 5 {
        let before = processor_time(process);
        sleep(period);
        let used = processor_time(process) - before;
        if used <= most {
            return;
        }
        times.push(used);
    }
    panic!("hundredths of a second in each period: {times:?}");
}

/// Returns the processor time that a process has used so far, in hundredths of a second.
pub(crate) fn processor_time(process: u32) -> u64 {
    try_processor_time(process).unwrap()
}

/// The same, or `None` if the process has ended.
pub(crate) fn try_processor_time(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    // `proc_pid_stat(5)`: `utime` and `stime` are the fields 14 and 15, and the third one comes first here.
    let times = fields.split(' ').skip(11).take(2);
    times.map(|ticks| ticks.parse::<u64>().ok()).sum()
}
