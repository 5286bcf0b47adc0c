//! Text and files that others wrote, for the programs that people run in a terminal.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, Read as _},
    path::Path,
};

/// The size of a file that a person may name on a command line or in a setting.
const FILE_LIMIT: u64 = 64 << 20;

/// Escapes the characters of a text with which it could command a terminal, or hide what it says: control characters
/// but line breaks and tabs, and those that change the direction of the text. JSON stays the same JSON.
///
/// ```
/// use es_event::foreign_text::escape_for_terminal;
///
/// assert_eq!(escape_for_terminal("\u{1b}[2J"), r"\u001b[2J");
/// ```
#[must_use]
pub fn escape_for_terminal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        let is_control = character.is_control() && !matches!(character, '\n' | '\t');
        if is_control || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
            // Writing to a String cannot fail.
            let _ = write!(escaped, "\\u{:04x}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Reads a file that somebody named. It may be a device that never ends.
///
/// ```
/// use es_event::foreign_text::read_file;
///
/// assert!(read_file("/dev/zero".as_ref()).is_err());
/// ```
///
/// # Errors
/// The file cannot be read, or is larger than 64 MiB.
pub fn read_file(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(file)?.take(FILE_LIMIT.saturating_add(1));
    let length = { read }.read_to_end(&mut bytes)?;
    if u64::try_from(length).is_ok_and(|length| length <= FILE_LIMIT) {
        return Ok(bytes);
    }
    let reason = "it is larger than 64 MiB, so it is not the file that is meant";
    Err(io::Error::new(io::ErrorKind::FileTooLarge, reason))
}

/// Reads a text file like [`read_file`].
///
/// ```
/// use es_event::foreign_text::read_text;
///
/// assert!(read_text("/dev/zero".as_ref()).is_err());
/// ```
///
/// # Errors
/// As those of [`read_file`], or the file is not UTF-8.
pub fn read_text(file: &Path) -> io::Result<String> {
    let text = String::from_utf8(read_file(file)?);
    text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_from_elsewhere_commands_no_terminal() {
        for (text, escaped) in [
            ("a\tb\nc é", "a\tb\nc é"),
            ("\u{1b}[2J\r\u{7f}\u{9b}", r"\u001b[2J\u000d\u007f\u009b"),
            ("\u{202e}txt", r"\u202etxt"),
        ] {
            assert_eq!(escape_for_terminal(text), escaped);
        }
        let json = "\"\u{9b}\"";
        let read: String = serde_json::from_str(&escape_for_terminal(json)).unwrap();
        assert_eq!(read, "\u{9b}");
    }

    #[test]
    fn a_device_that_never_ends_is_refused() {
        let refused = read_file(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(refused.contains("larger than 64 MiB"), "{refused}");
    }
}
