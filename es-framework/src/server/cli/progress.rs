//! How far a long command is, on standard error: a bar for people, a line now and then for logs.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

/// How often a person sees it move.
const FRAME: Duration = Duration::from_millis(100);
/// How often a log gets a line.
const LINE: Duration = Duration::from_secs(10);
const WIDTH: u64 = 30;

/// The progress of one command, in events.
#[derive(Debug)]
pub(super) struct Progress {
    what: &'static str,
    total: Option<u64>,
    begun: Instant,
    shown: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    pub(super) fn of(what: &'static str, total: Option<u64>) -> Self {
        Self {
            what,
            total,
            begun: Instant::now(),
            shown: None,
            is_terminal: io::stderr().is_terminal(),
        }
    }

    /// Says that so many are done, unless it has just been said.
    pub(super) fn at(&mut self, done: u64) {
        let (every, since) = if self.is_terminal {
            (FRAME, self.shown)
        } else {
            (LINE, Some(self.shown.unwrap_or(self.begun)))
        };
        if since.is_some_and(|since| since.elapsed() < every) {
            return;
        }
        self.shown = Some(Instant::now());
        let line = self.line(done);
        let end = if self.is_terminal { "\x1b[K\r" } else { "\n" };
        // Whether anybody sees it is no matter of the command's.
        let _ = write!(io::stderr(), "{line}{end}");
    }

    /// Leaves the line to what comes next.
    pub(super) fn end(self) {
        if self.is_terminal && self.shown.is_some() {
            let _ = write!(io::stderr(), "\x1b[K");
        }
    }

    fn line(&self, done: u64) -> String {
        let seconds = self.begun.elapsed().as_secs().max(1);
        let rate = done.checked_div(seconds).unwrap_or_default();
        let Some(total) = self.total.filter(|total| *total > 0) else {
            return format!("{}: {done} events, {rate} a second", self.what);
        };
        let part = |of: u64| done.min(total).saturating_mul(of).checked_div(total);
        let filled = part(WIDTH).unwrap_or_default();
        let bar = |count, mark: &str| mark.repeat(usize::try_from(count).unwrap_or_default());
        format!(
            "{}: [{}{}] {} %, {done} of {total} events, {rate} a second",
            self.what,
            bar(filled, "#"),
            bar(WIDTH.saturating_sub(filled), "-"),
            part(100).unwrap_or_default(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills_with_what_is_done() {
        let half = Progress::of("verify", Some(200)).line(100);
        assert!(half.contains("50 %, 100 of 200 events"), "{half}");
        assert!(half.contains("###-"), "{half}");
        let whole = Progress::of("verify", Some(200)).line(200);
        assert!(whole.contains(&"#".repeat(30)), "{whole}");
        let unknown = Progress::of("restore", None).line(7);
        assert!(unknown.starts_with("restore: 7 events"), "{unknown}");
        assert!(Progress::of("verify", Some(0)).line(0).contains("0 events"));
    }
}
