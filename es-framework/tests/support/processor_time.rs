//! The processor time of another process.

/// Returns the processor time that a process has used so far, in hundredths of a second.
pub(crate) fn processor_time(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    // `proc_pid_stat(5)`: `utime` and `stime` are the fields 14 and 15, and the third one comes first here.
    let times = fields.split(' ').skip(11).take(2);
    times.map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}
