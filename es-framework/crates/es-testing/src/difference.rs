//! Fails a test with the difference between what it expects and what it found.

use std::fmt::Write as _;

use es_event::Subject;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

/// Fails the test with a line-by-line difference if the values differ.
#[track_caller]
pub(crate) fn assert_same<T: PartialEq + AsLines>(what: &str, expected: &T, found: &T) {
    if expected == found {
        return;
    }
    let (expected, found) = (expected.lines(), found.lines());
    let mut text = format!("a difference in {what} (- expected, + found):\n");
    for change in TextDiff::from_lines(&expected, &found).iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        let _ = writeln!(text, "{sign} {}", change.value().trim_end_matches('\n'));
    }
    failed(&text)
}

/// A value that a failed test shows line by line.
pub(crate) trait AsLines {
    fn lines(&self) -> String;
}

impl AsLines for Value {
    fn lines(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl AsLines for Vec<Value> {
    fn lines(&self) -> String {
        let events: Vec<_> = self.iter().map(AsLines::lines).collect();
        events.join("\n")
    }
}

impl AsLines for String {
    fn lines(&self) -> String {
        self.clone()
    }
}

impl AsLines for Vec<String> {
    fn lines(&self) -> String {
        self.join("\n")
    }
}

impl AsLines for Subject {
    fn lines(&self) -> String {
        self.to_string()
    }
}

#[track_caller]
#[allow(clippy::panic, reason = "a test fails by panicking")]
pub(crate) fn failed(message: &dyn std::fmt::Display) -> ! {
    panic!("{message}")
}
