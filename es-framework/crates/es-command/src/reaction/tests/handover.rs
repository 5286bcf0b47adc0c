//! Tests of the graceful stop: a running call may end, and another process takes over at once.

use std::{sync::Arc, time::Duration};

use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{
    super::{ReactionDescriptor, ReactionRunner, Reactions},
    DUE, World,
    calls_once::{LetterWriter, Post, each_once, slow_world},
    eventually,
};

const DRAIN: Duration = Duration::from_secs(2);

/// A process that can be told to stop.
struct StoppableInstance {
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl StoppableInstance {
    fn start(world: &World) -> Self {
        let reactions = Reactions::new([ReactionDescriptor::of::<LetterWriter>()]).unwrap();
        let stop = CancellationToken::new();
        let runner = ReactionRunner::new(world.runtime(), reactions);
        let running = tokio::spawn(runner.run_until(stop.clone(), DRAIN));
        Self { stop, running }
    }

    /// Stops the process, and returns the time that this takes.
    async fn stop(self) -> Duration {
        let begun = Instant::now();
        self.stop.cancel();
        self.running.await.unwrap();
        begun.elapsed()
    }
}

/// Two processes, of which the first makes a call that takes this time.
async fn instances(stuck_for: Duration) -> (World, Arc<Post>, [StoppableInstance; 2]) {
    let (world, post) = slow_world(DUE, Some(0), stuck_for);
    world.send("a").await;
    let first = StoppableInstance::start(&world);
    post.stuck.notified().await;
    let second = StoppableInstance::start(&world);
    // The first instance stops between two looks of the second one at the state database.
    sleep(Duration::from_millis(1_050)).await;
    (world, post, [first, second])
}

#[tokio::test(start_paused = true)]
async fn a_running_call_may_end_when_its_instance_stops() {
    let (world, post, [first, second]) = instances(Duration::from_secs(2)).await;
    let time = first.stop().await;
    assert!(
        time > Duration::from_millis(900) && time < DRAIN,
        "{time:?}"
    );
    // The first instance did not begin the second call.
    assert_eq!(post.sent(), 1);
    let stopped = Instant::now();
    eventually(async || post.sent() == 2).await;
    assert!(stopped.elapsed() < Duration::from_secs(1));
    let time = second.stop().await;
    assert!(time < Duration::from_millis(100), "{time:?}");
    each_once(&world, &post, 2, || ()).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_outlasts_the_stop_is_made_by_another_instance_at_once() {
    let (world, post, [first, second]) = instances(Duration::MAX).await;
    let time = first.stop().await;
    assert!(time >= DRAIN && time < DRAIN * 2, "{time:?}");
    assert_eq!(post.sent(), 0);
    let stopped = Instant::now();
    eventually(async || post.sent() == 2).await;
    assert!(stopped.elapsed() < Duration::from_secs(1));
    each_once(&world, &post, 2, || second.running.abort()).await;
}
