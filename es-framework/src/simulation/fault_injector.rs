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
        world.pause(100, 2_000).await;
        let index = usize::try_from(world.below(2)).unwrap_or_default();
        let instance = &instances[index];
        let fault = world.below(1_000);
        if fault < kill {
            instance.kill(world.happens(600));
            world.pause(0, 2_000).await;
            start(&world, instance).await;
        } else if fault < kill + clock_jump {
            instance.offset_clock(draw_offset(&world));
        } else if fault < kill + clock_jump + 50 {
            instance.rebuild().await;
        } else if world.happens(300) {
            server.crash().await;
        }
    }
}

/// Starts an instance. A database that cannot be opened is reported in the trace.
pub(super) async fn start(world: &SimulatedWorld, instance: &SimulatedInstance) {
    if let Err(error) = instance.start().await {
        world.record(instance.name, format_args!("cannot start: {error}"));
    }
}

/// Draws the difference between a clock and the true time: small, large, or none again.
fn draw_offset(world: &SimulatedWorld) -> SignedDuration {
    let span = match world.below(4) {
        0 => 0,
        1 => 1_000,
        2 => 10_000,
        _ => 3_600_000,
    };
    let milliseconds = i64::try_from(world.between(0, 2 * span)).unwrap_or_default();
    let span = i64::try_from(span).unwrap_or_default();
    SignedDuration::from_millis(milliseconds - span)
}
