//! Injects the faults of whole machines: crashes of the store, kills of processes, jumps of clocks, and
//! an operator who rebuilds a read model.

use std::sync::Arc;

use jiff::SignedDuration;

use super::{
    environment::SimulationEnvironment,
    owner_domain::{OWNERS, owner_id},
    simulated_instance::SimulatedInstance,
    simulated_store::StoreServer,
};

/// Injects faults until the returned future is dropped.
pub(super) async fn inject_faults(
    environment: Arc<SimulationEnvironment>,
    server: Arc<StoreServer>,
    instances: Arc<[SimulatedInstance]>,
) {
    let (kill, clock_jump) = (environment.faults().kill, environment.faults().clock_jump);
    loop {
        environment.sleep_randomly(100, 2_000).await;
        let index = usize::try_from(environment.random_below(2)).unwrap_or_default();
        let instance = &instances[index];
        if environment.random_bool(100) {
            let owner = u32::try_from(environment.random_below(OWNERS)).unwrap_or_default();
            instance.begin_erasure(owner_id(owner));
        }
        let fault = environment.random_below(1_000);
        if fault < kill {
            instance.kill(environment.random_bool(600));
            instance.lose_tasks().await;
            environment.sleep_randomly(0, 2_000).await;
            start_instance(&environment, instance).await;
        } else if fault < kill + clock_jump {
            instance.set_clock_offset(draw_offset(&environment));
        } else if fault < kill + clock_jump + 50 {
            instance.rebuild_read_model().await;
        } else if environment.random_bool(300) {
            server.crash_and_restart().await;
        }
    }
}

/// Starts an instance. A database that cannot be opened is reported in the trace.
pub(super) async fn start_instance(
    environment: &SimulationEnvironment,
    instance: &SimulatedInstance,
) {
    if let Err(error) = instance.start_process().await {
        environment.record_trace(instance.name, format_args!("cannot start: {error}"));
    }
}

/// Draws the difference between a clock and the true time: small, large, or none again.
fn draw_offset(environment: &SimulationEnvironment) -> SignedDuration {
    let span = match environment.random_below(4) {
        0 => 0,
        1 => 1_000,
        2 => 10_000,
        _ => 3_600_000,
    };
    let milliseconds = i64::try_from(environment.random_between(0, 2 * span)).unwrap_or_default();
    let span = i64::try_from(span).unwrap_or_default();
    SignedDuration::from_millis(milliseconds - span)
}
