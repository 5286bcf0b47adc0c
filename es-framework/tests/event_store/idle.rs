//! An idle event store uses no processor time.

use std::{thread::sleep, time::Duration};

use crate::{server_process::ServerProcess, support::processor_time::processor_time};

#[test]
fn an_idle_server_uses_no_cpu() {
    let server = ServerProcess::temporary(&[]);
    // The work of the start ends within two seconds.
    sleep(Duration::from_secs(2));
    let before = processor_time(server.pid());
    sleep(Duration::from_secs(5));
    let used = processor_time(server.pid()) - before;
    assert!(used <= 1, "{used} hundredths of a second");
}
