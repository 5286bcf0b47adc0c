//! The environment of one run: its random numbers, its faults, its clocks and its trace.

use std::{
    fmt::Display,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::{defect::Defect, fault_profile::FaultProfile};
use crate::command::RandomNumbers;

/// The time of all clocks at the start of a run.
const BEGIN: Timestamp = Timestamp::constant(1_800_000_000, 0);

/// The environment of one run. Everything in it follows from the seed.
#[derive(Debug)]
pub(super) struct SimulationEnvironment {
    pub(super) random: RandomNumbers,
    pub(super) defect: Option<Defect>,
    begin: Instant,
    faults: Mutex<FaultProfile>,
    /// The latest time that any clock has ever shown.
    latest_time: Mutex<Timestamp>,
    trace: Mutex<Vec<String>>,
}

/// Locks a value of the simulation, which has one thread.
pub(super) fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sleeps for milliseconds. Even a sleep of no time costs a turn of the runtime.
async fn pass_time(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}

impl SimulationEnvironment {
    pub(super) fn new(seed: u64, defect: Option<Defect>) -> Self {
        let random = RandomNumbers::seeded(seed);
        let faults = FaultProfile::sample(&random);
        let environment = Self {
            random,
            defect,
            begin: Instant::now(),
            faults: Mutex::new(faults),
            latest_time: Mutex::new(BEGIN),
            trace: Mutex::default(),
        };
        environment.record_trace("seed", format_args!("{seed}, {faults:?}"));
        environment
    }

    /// Returns a number from 0 to `end`, without `end`.
    pub(super) fn random_below(&self, end: u64) -> u64 {
        self.random.next().checked_rem(end).unwrap_or_default()
    }

    /// Returns a number between two others, both included.
    pub(super) fn random_between(&self, first: u64, last: u64) -> u64 {
        first + self.random_below(last.saturating_sub(first) + 1)
    }

    /// Decides whether something happens that happens so many times in a thousand.
    pub(super) fn random_bool(&self, per_mille: u64) -> bool {
        per_mille > 0 && self.random_below(1_000) < per_mille
    }

    pub(super) fn faults(&self) -> FaultProfile {
        *lock(&self.faults)
    }

    /// Ends all faults.
    pub(super) fn end_faults(&self) {
        *lock(&self.faults) = FaultProfile::default();
    }

    /// Waits a random number of milliseconds between two bounds.
    pub(super) async fn sleep_randomly(&self, first: u64, last: u64) {
        pass_time(self.random_between(first, last)).await;
    }

    /// Waits while a request or an answer is on its way. A few take much longer than others.
    pub(super) async fn simulate_network_delay(&self) {
        pass_time(self.travel_time()).await;
    }

    /// Returns the time in milliseconds that a request or an answer takes.
    fn travel_time(&self) -> u64 {
        let faults = self.faults();
        match () {
            () if self.random_bool(faults.very_slow_request) => self.random_between(500, 3_000),
            () if self.random_bool(faults.slow_request) => self.random_between(20, 300),
            () => self.random_below(6).saturating_sub(3),
        }
    }

    /// Returns the time since the start of the run.
    pub(super) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Returns the true time.
    pub(super) fn now(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.elapsed()).unwrap_or_default();
        BEGIN.saturating_add(elapsed).unwrap_or(Timestamp::MAX)
    }

    /// Remembers that a clock shows a time.
    pub(super) fn remember_clock_time(&self, time: Timestamp) {
        let mut latest = lock(&self.latest_time);
        *latest = time.max(*latest);
    }

    /// Returns the latest time that any clock has ever shown.
    pub(super) fn latest_time(&self) -> Timestamp {
        *lock(&self.latest_time)
    }

    /// Adds a line to the trace.
    pub(super) fn record_trace(&self, who: impl Display, what: impl Display) {
        let elapsed = self.elapsed();
        let (seconds, milliseconds) = (elapsed.as_secs(), elapsed.subsec_millis());
        let line = format!("{seconds:>4}.{milliseconds:03} {who:<9} {what}");
        lock(&self.trace).push(line);
    }

    pub(super) fn take_trace(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.trace))
    }
}
