//! The lines of an input file. Each has a limit, so that a file without line breaks does not fill the memory.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read},
    path::Path,
};

/// The longest line of a backup in bytes. No engine stores a longer event: a value of SQLite or PostgreSQL ends
/// there, and earlier versions imported events of any length.
pub(super) const BACKUP_LINE: usize = 1 << 30;

/// The failure of reading one line.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error("the line has more than {0} bytes")]
    TooLong(usize),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The lines of a file or of standard input with their numbers, without blank lines. Ends after an error.
pub(super) struct NumberedLines {
    input: BufReader<Box<dyn Read>>,
    number: usize,
    limit: usize,
    has_failed: bool,
}

impl NumberedLines {
    /// Opens a file, or standard input. A line may have `limit` bytes.
    pub(super) fn open(file: Option<&Path>, limit: usize) -> io::Result<Self> {
        let input: Box<dyn Read> = match file {
            None => Box::new(io::stdin()),
            Some(file) => Box::new(File::open(file)?),
        };
        Ok(Self::new(input, limit))
    }

    fn new(input: Box<dyn Read>, limit: usize) -> Self {
        Self {
            input: BufReader::with_capacity(1 << 20, input),
            number: 0,
            limit,
            has_failed: false,
        }
    }

    /// Reads the next line without its line break, or `None` at the end.
    fn read_line(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        let mut line = Vec::new();
        let with_break = u64::try_from(self.limit)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        let mut bounded = self.input.by_ref().take(with_break);
        if bounded.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if line.len() > self.limit {
            return Err(LineError::TooLong(self.limit));
        }
        Ok(Some(line))
    }
}

impl Iterator for NumberedLines {
    type Item = (usize, Result<Vec<u8>, LineError>);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.has_failed {
            let line = self.read_line().transpose()?;
            // People count lines from one.
            self.number = self.number.saturating_add(1);
            self.has_failed = line.is_err();
            let is_blank = |line: &Vec<u8>| line.trim_ascii().is_empty();
            if !line.as_ref().is_ok_and(is_blank) {
                return Some((self.number, line));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str, limit: usize) -> Vec<(usize, Result<String, String>)> {
        let lines = NumberedLines::new(Box::new(text.as_bytes()), limit);
        let text = |line: Vec<u8>| String::from_utf8(line).unwrap();
        lines
            .map(|(number, line)| (number, line.map(text).map_err(|error| error.to_string())))
            .collect()
    }

    #[test]
    fn a_line_may_have_as_many_bytes_as_the_limit() {
        let found = read("abcd\n\n  \nabc\nabcd", 4);
        let line = |text: &str| Ok(text.to_owned());
        assert_eq!(
            found,
            [(1, line("abcd")), (4, line("abc")), (5, line("abcd"))]
        );
    }

    #[test]
    fn the_lines_end_with_one_that_is_too_long() {
        let refused = Err("the line has more than 4 bytes".to_owned());
        for text in ["ab\nabcde\nab\n", "ab\nabcde"] {
            assert_eq!(
                read(text, 4),
                [(1, Ok("ab".to_owned())), (2, refused.clone())]
            );
        }
    }

    #[test]
    fn an_input_without_line_breaks_is_read_up_to_the_limit() {
        let mut lines = NumberedLines::new(Box::new(io::repeat(b'x')), 1 << 10);
        let (number, line) = lines.next().unwrap();
        assert!(matches!(line, Err(LineError::TooLong(1_024))), "{number}");
        assert!(lines.next().is_none());
    }
}
