//! Injects the faults of whole machines: crashes of the store, kills of processes, jumps of clocks, and
//! an operator who rebuilds a read model.

use std::sync::Arc;

use jiff::SignedDuration;

use super::{
    simulated_instance::SimulatedInstance, simulated_store::StoreServer, world::SimulatedWorld,
};

/// Injects faults until the returned future is dropped.
pub(super) async fn inject_faults(
    world: Arc<SimulatedWorld>,
    server: Arc<StoreServer>,
    instances: Arc<[SimulatedInstance]>,
) {
    let (kill, clock_jump) = (world.faults().kill, world.faults().clock_jump);
    loop {
        world.sleep_randomly(100, 2_000).await;
        let index = usize::try_from(world.random_below(2)).unwrap_or_default();
        let instance = &instances[index];
        let fault = world.random_below(1_000);
        if fault < kill {
            instance.kill(world.random_bool(600));
            world.sleep_randomly(0, 2_000).await;
            start_instance(&world, instance).await;
        } else if fault < kill + clock_jump {
            instance.set_clock_offset(draw_offset(&world));
        } else if fault < kill + clock_jump + 50 {
            instance.rebuild_read_model().await;
        } else if world.random_bool(300) {
            server.crash_and_restart().await;
        }
    }
}

/// Starts an instance. A database that cannot be opened is reported in the trace.
pub(super) async fn start_instance(world: &SimulatedWorld, instance: &SimulatedInstance) {
    if let Err(error) = instance.start_process().await {
        world.record_trace(instance.name, format_args!("cannot start: {error}"));
    }
}

/// Draws the difference between a clock and the true time: small, large, or none again.
fn draw_offset(world: &SimulatedWorld) -> SignedDuration {
    let span = match world.random_below(4) {
        0 => 0,
        1 => 1_000,
        2 => 10_000,
        _ => 3_600_000,
    };
    let milliseconds = i64::try_from(world.random_between(0, 2 * span)).unwrap_or_default();
    let span = i64::try_from(span).unwrap_or_default();
    SignedDuration::from_millis(milliseconds - span)
}
