//! The commands of the last hour, minute by minute, in bounded memory.

use std::{
    collections::VecDeque,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The number of minutes that are kept.
const MINUTES: usize = 60;

/// The commands that ended in one minute.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommandMinute {
    /// The number of commands.
    pub commands: u64,
    /// The number of decisions that were repeated or given up because a subject changed.
    pub conflicts: u64,
    /// The sum of the times of all commands.
    pub total: Duration,
    /// The longest time of a command.
    pub longest: Duration,
}

impl CommandMinute {
    /// Adds the commands of another minute.
    #[must_use]
    pub fn joined_with(self, other: Self) -> Self {
        Self {
            commands: self.commands.saturating_add(other.commands),
            conflicts: self.conflicts.saturating_add(other.conflicts),
            total: self.total.saturating_add(other.total),
            longest: self.longest.max(other.longest),
        }
    }

    /// Returns the mean time of a command.
    #[must_use]
    pub fn mean(self) -> Duration {
        let commands = u32::try_from(self.commands).unwrap_or(u32::MAX);
        self.total.checked_div(commands).unwrap_or_default()
    }
}

/// The last minutes, the current one last.
#[derive(Debug)]
struct CommandHistory {
    minutes: VecDeque<CommandMinute>,
    /// The number of the current minute since the first use.
    current: u64,
}

static HISTORY: LazyLock<Mutex<CommandHistory>> = LazyLock::new(Mutex::default);
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Default for CommandHistory {
    fn default() -> Self {
        Self {
            minutes: VecDeque::from([CommandMinute::default(); MINUTES]),
            current: 0,
        }
    }
}

impl CommandHistory {
    /// Makes a minute the current one. Older minutes leave, and minutes without commands are empty.
    fn advance(&mut self, minute: u64) {
        let passed = minute.saturating_sub(self.current);
        for _ in 0..usize::try_from(passed).unwrap_or(MINUTES).min(MINUTES) {
            self.minutes.pop_front();
            self.minutes.push_back(CommandMinute::default());
        }
        self.current = self.current.max(minute);
    }

    fn add(&mut self, measured: CommandMinute) {
        if let Some(current) = self.minutes.back_mut() {
            *current = current.joined_with(measured);
        }
    }
}

/// Returns the history at the current minute.
fn now() -> MutexGuard<'static, CommandHistory> {
    let minute = BEGIN.elapsed().as_secs().checked_div(60);
    let mut history = HISTORY.lock().unwrap_or_else(PoisonError::into_inner);
    history.advance(minute.unwrap_or_default());
    history
}

/// Records a command and its time.
#[doc(hidden)]
pub fn record_command(duration: Duration) {
    now().add(CommandMinute {
        commands: 1,
        total: duration,
        longest: duration,
        ..CommandMinute::default()
    });
}

/// Records a decision that is repeated or given up because a subject changed.
#[doc(hidden)]
pub fn record_conflict() {
    now().add(CommandMinute {
        conflicts: 1,
        ..CommandMinute::default()
    });
}

/// Returns the minutes of the last hour, the oldest first. The last one is not over yet.
#[doc(hidden)]
#[must_use]
pub fn commands_of_last_hour() -> Vec<CommandMinute> {
    now().minutes.iter().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn one(milliseconds: u64) -> CommandMinute {
        CommandMinute {
            commands: 1,
            conflicts: 0,
            total: Duration::from_millis(milliseconds),
            longest: Duration::from_millis(milliseconds),
        }
    }

    #[test]
    fn a_minute_has_the_mean_and_the_longest_time() {
        let sum = one(2).joined_with(one(6));
        assert_eq!(sum.mean(), Duration::from_millis(4));
        assert_eq!(sum.longest, Duration::from_millis(6));
        assert_eq!(CommandMinute::default().mean(), Duration::ZERO);
    }

    #[test]
    fn an_hour_is_kept_and_no_more() {
        let mut history = CommandHistory::default();
        history.add(one(1));
        history.advance(59);
        history.add(one(2));
        assert_eq!(history.minutes.front(), Some(&one(1)));
        history.advance(60);
        assert_eq!(
            history
                .minutes
                .iter()
                .filter(|one| one.commands > 0)
                .count(),
            1
        );
        // The clock of another thread may be a moment older.
        history.advance(59);
        assert_eq!(history.current, 60);
        history.advance(u64::MAX);
        assert_eq!(history.minutes, [CommandMinute::default(); MINUTES]);
    }
}
