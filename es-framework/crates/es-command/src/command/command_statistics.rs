//! The commands of the last hour, minute by minute, in bounded memory.

use std::{
    collections::VecDeque,
    fmt,
    iter::repeat_n,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sketches_ddsketch::{Config, DDSketch};

/// The number of minutes that are kept.
const MINUTES: usize = 60;

/// The relative error of a percentile.
const ACCURACY: f64 = 0.05;
/// The most bins of a sketch, with eight bytes each. They cover times from a microsecond to a day.
const MAX_BINS: u32 = 256;
/// The shortest time that a sketch tells from zero, in seconds.
const SHORTEST: f64 = 1e-6;

/// The commands that ended in one minute.
#[derive(Clone)]
pub struct CommandMinute {
    /// The number of decisions that were repeated or given up because a subject changed.
    pub conflicts: u64,
    /// The times of the commands, in seconds.
    times: DDSketch,
}

impl Default for CommandMinute {
    fn default() -> Self {
        Self {
            conflicts: 0,
            times: DDSketch::new(Config::new(ACCURACY, MAX_BINS, SHORTEST)),
        }
    }
}

impl fmt::Debug for CommandMinute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandMinute")
            .field("commands", &self.command_count())
            .field("conflicts", &self.conflicts)
            .finish_non_exhaustive()
    }
}

impl CommandMinute {
    /// Adds a command that took this long.
    pub fn add_command(&mut self, time: Duration) {
        self.times.add(time.as_secs_f64());
    }

    /// Adds the commands and conflicts of another minute.
    pub fn add_minute(&mut self, other: &Self) {
        self.conflicts = self.conflicts.saturating_add(other.conflicts);
        // Only sketches of another configuration cannot be merged, and all have the same.
        let _ = self.times.merge(&other.times);
    }

    /// Returns the number of commands.
    pub fn command_count(&self) -> u64 {
        u64::try_from(self.times.count()).unwrap_or(u64::MAX)
    }

    /// Returns the time that half of the commands did not exceed.
    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }

    /// Returns the time that 99 of 100 commands did not exceed.
    pub fn percentile_99(&self) -> Duration {
        self.quantile(0.99)
    }

    /// Returns the longest time of a command.
    pub fn longest(&self) -> Duration {
        self.quantile(1.0)
    }

    fn quantile(&self, quantile: f64) -> Duration {
        let seconds = self.times.quantile(quantile).ok().flatten();
        Duration::try_from_secs_f64(seconds.unwrap_or_default()).unwrap_or_default()
    }
}

/// The statistics of the last 60 minutes, one bucket each. The last bucket is the current minute.
#[derive(Debug)]
struct CommandStatistics {
    /// The first use.
    begin: Instant,
    minutes: VecDeque<CommandMinute>,
    /// The number of the current minute since then.
    current: u64,
}

static STATISTICS: LazyLock<Mutex<CommandStatistics>> = LazyLock::new(Mutex::default);

impl Default for CommandStatistics {
    fn default() -> Self {
        Self {
            begin: Instant::now(),
            minutes: repeat_n(CommandMinute::default(), MINUTES).collect(),
            current: 0,
        }
    }
}

impl CommandStatistics {
    /// Makes a minute the current one. Older minutes leave, and minutes without commands are empty.
    fn advance(&mut self, minute: u64) {
        let passed = minute.saturating_sub(self.current);
        for _ in 0..usize::try_from(passed).unwrap_or(MINUTES).min(MINUTES) {
            self.minutes.pop_front();
            self.minutes.push_back(CommandMinute::default());
        }
        self.current = self.current.max(minute);
    }

    fn current_minute(&mut self) -> Option<&mut CommandMinute> {
        self.minutes.back_mut()
    }
}

/// Returns the statistics at the current minute.
fn now() -> MutexGuard<'static, CommandStatistics> {
    let mut statistics = STATISTICS.lock().unwrap_or_else(PoisonError::into_inner);
    let minute = statistics.begin.elapsed().as_secs().checked_div(60);
    statistics.advance(minute.unwrap_or_default());
    statistics
}

/// Records a command and its time.
pub(super) fn record_command(duration: Duration) {
    if let Some(minute) = now().current_minute() {
        minute.add_command(duration);
    }
}

/// Records a decision that is repeated or given up because a subject changed.
pub(super) fn record_conflict() {
    if let Some(minute) = now().current_minute() {
        minute.conflicts = minute.conflicts.saturating_add(1);
    }
}

/// Returns the minutes of the last hour, the oldest first. The last one is not over yet.
#[must_use]
pub fn commands_of_last_hour() -> Vec<CommandMinute> {
    now().minutes.iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minute(times: impl IntoIterator<Item = u64>) -> CommandMinute {
        let mut minute = CommandMinute::default();
        for milliseconds in times {
            minute.add_command(Duration::from_millis(milliseconds));
        }
        minute
    }

    fn is_about(time: Duration, milliseconds: f64) -> bool {
        (time.as_secs_f64() * 1e3 / milliseconds - 1.0).abs() < 0.06
    }

    #[test]
    fn a_minute_has_the_percentiles_of_its_times() {
        let mut sum = minute(1..=50);
        sum.add_minute(&minute(51..=100));
        assert_eq!(sum.command_count(), 100);
        assert!(is_about(sum.median(), 50.0), "{:?}", sum.median());
        let tail = sum.percentile_99();
        assert!(is_about(tail, 99.0), "{tail:?}");
        assert_eq!(sum.longest(), Duration::from_millis(100));
        assert_eq!(CommandMinute::default().median(), Duration::ZERO);
    }

    #[test]
    fn times_of_every_length_take_bounded_memory() {
        let mut all = CommandMinute::default();
        for exponent in 0..=60 {
            all.add_command(Duration::from_nanos(1 << exponent));
        }
        let bins = u32::try_from(all.times.length()).unwrap();
        assert!(bins <= MAX_BINS, "{bins}");
        assert_eq!(all.command_count(), 61);
    }

    #[test]
    fn an_hour_is_kept_and_no_more() {
        let counts = |statistics: &CommandStatistics| -> Vec<u64> {
            statistics
                .minutes
                .iter()
                .map(CommandMinute::command_count)
                .collect()
        };
        let mut statistics = CommandStatistics::default();
        statistics
            .current_minute()
            .unwrap()
            .add_minute(&minute([1]));
        statistics.advance(59);
        statistics
            .current_minute()
            .unwrap()
            .add_minute(&minute([2]));
        assert_eq!(counts(&statistics).first(), Some(&1));
        statistics.advance(60);
        assert_eq!(counts(&statistics).iter().sum::<u64>(), 1);
        // The clock of another thread may be a moment older.
        statistics.advance(59);
        assert_eq!(statistics.current, 60);
        statistics.advance(u64::MAX);
        assert_eq!(counts(&statistics), [0; MINUTES]);
    }
}
