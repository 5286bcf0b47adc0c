//! Shows on standard error how far an import is.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

/// The time between two lines, if standard error is no terminal.
const PAUSE: Duration = Duration::from_secs(5);

/// One line that changes on a terminal, and elsewhere a line every five seconds.
pub(super) struct ProgressLine {
    begin: Instant,
    is_terminal: bool,
    last: Option<Instant>,
}

impl ProgressLine {
    pub(super) fn new() -> Self {
        Self {
            begin: Instant::now(),
            is_terminal: io::stderr().is_terminal(),
            last: None,
        }
    }

    pub(super) fn show(&mut self, rows: u64, refused: u64) {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= PAUSE);
        if !self.is_terminal && !is_due {
            return;
        }
        self.last = Some(Instant::now());
        let milliseconds = self.begin.elapsed().as_millis().max(1);
        let rate = u128::from(rows).saturating_mul(1_000) / milliseconds;
        let text = format!("{rows} rows, {refused} refused, {rate} a second");
        // Nothing can be done about a standard error that is closed.
        let _ = if self.is_terminal {
            write!(io::stderr(), "\r{text} ")
        } else {
            writeln!(io::stderr(), "{text}")
        };
    }

    pub(super) fn end(&self) {
        if self.is_terminal && self.last.is_some() {
            let _ = writeln!(io::stderr());
        }
    }
}
