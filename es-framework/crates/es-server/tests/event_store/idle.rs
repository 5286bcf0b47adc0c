//! An idle event store uses no processor time.

use std::time::Duration;

use crate::{server_process::ServerProcess, support::processor_time::assert_idle};

#[test]
fn an_idle_server_uses_no_cpu() {
    let server = ServerProcess::temporary(&[]);
    assert_idle(server.pid(), Duration::from_secs(4), 1);
}
