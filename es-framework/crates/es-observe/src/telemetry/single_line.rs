//! Formats the fields of a log record on one line, whatever they contain. Text from a client must
//! neither look like another line nor control somebody's terminal.

use std::fmt::{self, Write};

use tracing::field::{Field, Visit};
use tracing_subscriber::{
    field::RecordFields,
    fmt::{FormatFields, format::Writer},
};

/// Writes each field as `name=value` with control characters escaped, and the message without a name.
#[derive(Debug)]
pub(super) struct SingleLineFields;

impl<'writer> FormatFields<'writer> for SingleLineFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visitor = FieldVisitor {
            writer,
            has_fields: false,
            result: Ok(()),
        };
        fields.record(&mut visitor);
        visitor.result
    }
}

/// Writes the fields of a log record to one line.
struct FieldVisitor<'writer> {
    writer: Writer<'writer>,
    has_fields: bool,
    result: fmt::Result,
}

impl FieldVisitor<'_> {
    fn write(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // The crate `log` adds its source location as fields. Other records do not show theirs either.
        if self.result.is_err() || field.name().starts_with("log.") {
            return;
        }
        self.result = self.try_write(field, value);
    }

    fn try_write(&mut self, field: &Field, value: fmt::Arguments<'_>) -> fmt::Result {
        if std::mem::replace(&mut self.has_fields, true) {
            self.writer.write_char(' ')?;
        }
        if field.name() != "message" {
            write!(self.writer, "{}=", field.name())?;
        }
        EscapingWriter(&mut self.writer).write_fmt(value)
    }
}

impl Visit for FieldVisitor<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.write(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" || is_readable_unquoted(value) {
            self.write(field, format_args!("{value}"));
        } else {
            self.write(field, format_args!("{value:?}"));
        }
    }
}

/// Returns whether a value needs no quotation marks to be separated from the next field.
fn is_readable_unquoted(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'"')
}

/// Escapes control characters on their way to a writer.
struct EscapingWriter<'a, W>(&'a mut W);

impl<W: Write> Write for EscapingWriter<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(is_unsafe_character) {
            match part.char_indices().next_back() {
                Some((end, last)) if is_unsafe_character(last) => {
                    self.0.write_str(part.get(..end).unwrap_or_default())?;
                    write!(self.0, "{}", last.escape_default())?;
                }
                _ => self.0.write_str(part)?,
            }
        }
        Ok(())
    }
}

/// Returns whether a character is a control character, ends a line or changes the direction of the text.
fn is_unsafe_character(character: char) -> bool {
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
    struct LogBuffer(Arc<Mutex<Vec<u8>>>);

    impl io::Write for LogBuffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut buffer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            buffer.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(log: impl FnOnce()) -> String {
        let buffer = LogBuffer::default();
        let writer = buffer.clone();
        let layer = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .fmt_fields(SingleLineFields)
            .with_writer(move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, log);
        let bytes = buffer.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn an_event_is_one_line_whatever_it_holds() {
        let evil = "a\r\nERROR all is lost\u{1b}[2J\u{2028}\u{9b}\u{202e}z";
        let text = logged(|| {
            tracing::info!(value = evil, shown = %evil, debug = ?evil, "said {evil}");
        });
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        assert!(
            !text.trim_end().chars().any(is_unsafe_character),
            "{text:?}"
        );
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
