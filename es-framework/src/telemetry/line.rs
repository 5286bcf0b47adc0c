//! The fields of a logged event on one line, whatever they hold: what a client sends must not pass
//! for a line of its own, nor for a command to somebody's terminal.

use std::fmt::{self, Write};

use tracing::field::{Field, Visit};
use tracing_subscriber::{
    field::RecordFields,
    fmt::{FormatFields, format::Writer},
};

/// Writes `name=value`, control characters escaped; the message without its name.
#[derive(Debug)]
pub(super) struct OneLine;

impl<'writer> FormatFields<'writer> for OneLine {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut line = Line {
            writer,
            begun: false,
            written: Ok(()),
        };
        fields.record(&mut line);
        line.written
    }
}

struct Line<'writer> {
    writer: Writer<'writer>,
    begun: bool,
    written: fmt::Result,
}

impl Line<'_> {
    fn write(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // What the crate `log` tells of the place is not shown of other events either.
        if self.written.is_err() || field.name().starts_with("log.") {
            return;
        }
        self.written = self.try_write(field, value);
    }

    fn try_write(&mut self, field: &Field, value: fmt::Arguments<'_>) -> fmt::Result {
        if std::mem::replace(&mut self.begun, true) {
            self.writer.write_char(' ')?;
        }
        if field.name() != "message" {
            write!(self.writer, "{}=", field.name())?;
        }
        Escaped(&mut self.writer).write_fmt(value)
    }
}

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.write(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" || is_bare(value) {
            self.write(field, format_args!("{value}"));
        } else {
            self.write(field, format_args!("{value:?}"));
        }
    }
}

/// Whether a text is told from what follows it without quotation marks.
fn is_bare(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'"')
}

struct Escaped<'a, W>(&'a mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(breaks) {
            match part.char_indices().next_back() {
                Some((end, last)) if breaks(last) => {
                    self.0.write_str(part.get(..end).unwrap_or_default())?;
                    write!(self.0, "{}", last.escape_default())?;
                }
                _ => self.0.write_str(part)?,
            }
        }
        Ok(())
    }
}

/// Control characters, and those by which Unicode ends a line or turns its direction.
fn breaks(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex, PoisonError},
    };

    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(log: impl FnOnce()) -> String {
        let kept = Kept::default();
        let writer = kept.clone();
        let layer = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .fmt_fields(OneLine)
            .with_writer(move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, log);
        let bytes = kept.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn an_event_is_one_line_whatever_it_holds() {
        let evil = "a\r\nERROR all is lost\u{1b}[2J\u{2028}\u{9b}\u{202e}z";
        let text = logged(|| {
            tracing::info!(value = evil, shown = %evil, debug = ?evil, "said {evil}");
        });
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        assert!(!text.trim_end().chars().any(breaks), "{text:?}");
        assert!(
            text.contains(r"shown=a\r\nERROR all is lost\u{1b}[2J"),
            "{text}"
        );
    }

    #[test]
    fn a_plain_event_reads_plainly() {
        let text = logged(|| tracing::info!(method = "GET", status = 200, name = "a b", "request"));
        assert_eq!(text, " INFO request method=GET status=200 name=\"a b\"\n");
    }
}
