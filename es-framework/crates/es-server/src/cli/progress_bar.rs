//! The progress of a long subcommand on standard error: a bar for people, and a line now and then for logs.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use es_store::{EventStore, StoreError, VerificationProgress, VerificationReport, verify};

/// The time between two updates of the bar.
const BAR_INTERVAL: Duration = Duration::from_millis(100);
/// The time between two lines in a log.
const LOG_INTERVAL: Duration = Duration::from_secs(10);
const BAR_WIDTH: u64 = 30;

/// Displays the progress of one subcommand.
#[derive(Debug)]
pub(super) struct ProgressDisplay {
    command: &'static str,
    /// The plural of the noun that is counted.
    unit: &'static str,
    total: Option<u64>,
    begun: Instant,
    shown: Option<Instant>,
    is_terminal: bool,
}

impl ProgressDisplay {
    /// Counts events.
    pub(super) fn new(command: &'static str, total: Option<u64>) -> Self {
        Self::with_unit(command, "events", total)
    }

    fn with_unit(command: &'static str, unit: &'static str, total: Option<u64>) -> Self {
        Self {
            command,
            unit,
            total,
            begun: Instant::now(),
            shown: None,
            is_terminal: io::stderr().is_terminal(),
        }
    }

    /// Shows the number of events that are done, unless the display has just changed.
    pub(super) fn update(&mut self, done: u64) {
        let (every, since) = if self.is_terminal {
            (BAR_INTERVAL, self.shown)
        } else {
            (LOG_INTERVAL, Some(self.shown.unwrap_or(self.begun)))
        };
        if since.is_some_and(|since| since.elapsed() < every) {
            return;
        }
        self.shown = Some(Instant::now());
        let line = self.line(done);
        let end = if self.is_terminal { "\x1b[K\r" } else { "\n" };
        // The subcommand continues if the progress cannot be displayed.
        let _ = write!(io::stderr(), "{line}{end}");
    }

    /// Removes the bar.
    pub(super) fn finish(self) {
        if self.is_terminal && self.shown.is_some() {
            let _ = write!(io::stderr(), "\x1b[K");
        }
    }

    fn line(&self, done: u64) -> String {
        let seconds = self.begun.elapsed().as_secs().max(1);
        let rate = done.checked_div(seconds).unwrap_or_default();
        let (command, unit) = (self.command, self.unit);
        let Some(total) = self.total.filter(|total| *total > 0) else {
            return format!("{command}: {done} {unit}, {rate} a second");
        };
        let share = |of: u64| done.min(total).saturating_mul(of).checked_div(total);
        let filled = share(BAR_WIDTH).unwrap_or_default();
        let bar = |count, mark: &str| mark.repeat(usize::try_from(count).unwrap_or_default());
        format!(
            "{command}: [{}{}] {} %, {done} of {total} {unit}, {rate} a second",
            bar(filled, "#"),
            bar(BAR_WIDTH.saturating_sub(filled), "-"),
            share(100).unwrap_or_default(),
        )
    }
}

/// Verifies a store, and displays the progress: first of the chain, then of the tables.
pub(super) async fn verify_with_progress(
    store: &dyn EventStore,
    events: Option<u64>,
) -> Result<VerificationReport, StoreError> {
    let mut chain = ProgressDisplay::new("verify", events);
    let mut tables = None;
    let verified = verify(store, |progress| match progress {
        VerificationProgress::Chain { events } => chain.update(events),
        VerificationProgress::Tables { entries } => tables
            .get_or_insert_with(|| {
                ProgressDisplay::with_unit("compare the tables", "entries", None)
            })
            .update(entries),
    })
    .await;
    chain.finish();
    if let Some(tables) = tables {
        tables.finish();
    }
    verified
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills_with_what_is_done() {
        let half = ProgressDisplay::new("verify", Some(200)).line(100);
        assert!(half.contains("50 %, 100 of 200 events"), "{half}");
        assert!(half.contains("###-"), "{half}");
        let whole = ProgressDisplay::new("verify", Some(200)).line(200);
        assert!(whole.contains(&"#".repeat(30)), "{whole}");
        let unknown = ProgressDisplay::new("restore", None).line(7);
        assert!(unknown.starts_with("restore: 7 events"), "{unknown}");
        assert!(
            ProgressDisplay::new("verify", Some(0))
                .line(0)
                .contains("0 events")
        );
    }
}
