//! An idle event store uses no processor time.

use std::{thread::sleep, time::Duration};

use crate::server_process::ServerProcess;

/// Processor time of a process, in hundredths of a second.
fn ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<_> = fields.split(' ').collect();
    let used = [fields[11], fields[12]].map(|field| field.parse::<u64>().unwrap());
    used.iter().sum()
}

#[test]
fn an_idle_server_uses_no_cpu() {
    let server = ServerProcess::temporary(&[]);
    // The work of the start ends within two seconds.
    sleep(Duration::from_secs(2));
    let before = ticks(server.pid());
    sleep(Duration::from_secs(5));
    let used = ticks(server.pid()) - before;
    assert!(used <= 1, "{used} hundredths of a second");
}
