//! How often each fault happens in a run, and how clients behave. Some runs have many faults of one kind and none of another,
//! because a mixture of all of them hides the effects of each.

use crate::command::RandomNumbers;

/// How many times in a thousand each fault happens. The default is an environment without faults.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FaultProfile {
    pub(super) slow_request: u64,
    pub(super) very_slow_request: u64,
    /// An append fails before it is sent.
    pub(super) failed_append: u64,
    /// The answer to an append is lost.
    pub(super) lost_answer: u64,
    pub(super) failed_read: u64,
    /// A read fails after its first events.
    pub(super) torn_read: u64,
    pub(super) failed_subscription: u64,
    /// The flush of the store takes long, so that a crash finds more unflushed appends.
    pub(super) slow_flush: u64,
    /// The store writes the appends of a batch in another order than they arrived.
    pub(super) reordered_batch: u64,
    /// A client goes away before its command has an answer.
    pub(super) lost_client: u64,
    pub(super) failed_call: u64,
    pub(super) slow_call: u64,
    /// A call does not end before its time limit.
    pub(super) hanging_call: u64,
    /// A client does not wait before its next operation.
    pub(super) eager_client: u64,
    /// An operation is a tip of the first wallet, so that clients do the same at the same time.
    pub(super) same_tip: u64,
    /// The share of the injected faults that are jumps of clocks.
    pub(super) clock_jump: u64,
    /// The share of the injected faults that are kills of a process.
    pub(super) kill: u64,
}

impl FaultProfile {
    /// Draws the profile of a run.
    pub(super) fn sample(random: &RandomNumbers) -> Self {
        let rate = |low: u64, high: u64| match random.next() % 4 {
            0 | 1 => 0,
            2 => low,
            _ => high,
        };
        Self {
            slow_request: rate(30, 300),
            very_slow_request: rate(5, 60),
            failed_append: rate(20, 200),
            lost_answer: rate(20, 250),
            failed_read: rate(10, 100),
            torn_read: rate(5, 50),
            failed_subscription: rate(10, 100),
            slow_flush: rate(100, 500),
            reordered_batch: rate(200, 1_000),
            lost_client: rate(30, 200),
            failed_call: rate(100, 400),
            slow_call: rate(100, 400),
            hanging_call: rate(50, 200),
            eager_client: rate(200, 900),
            same_tip: rate(0, 700),
            clock_jump: rate(150, 400),
            kill: rate(200, 500),
        }
    }
}
