//! Reads the rows of a CSV file, with a limit for the length of a row.

use std::{
    cell::Cell,
    fs::File,
    io::{self, Read},
    path::Path,
    rc::Rc,
};

use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::error::ToolError;

/// The longest row in bytes, with what is read ahead. A quotation mark that is never closed makes one row of the rest
/// of the file.
const MAX_ROW: usize = 4 * 1024 * 1024;

/// The rows of a file behind its header.
pub(super) struct RowReader {
    reader: Reader<LimitedFile>,
    budget: Rc<Cell<usize>>,
    pub(super) header: Vec<String>,
    name: String,
}

/// A row of the file.
pub(super) struct Row {
    pub(super) cells: Vec<String>,
    /// The reason why the row cannot be imported, if there is one.
    pub(super) reason: Option<String>,
}

/// A file of which only so many bytes are read for one row.
struct LimitedFile {
    file: File,
    budget: Rc<Cell<usize>>,
}

impl Read for LimitedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        let rest = self.budget.get().checked_sub(read);
        let rest = rest.ok_or_else(|| {
            let message = "a row has more than 4 MiB. Is a quotation mark not closed?";
            io::Error::other(message)
        })?;
        self.budget.set(rest);
        Ok(read)
    }
}

impl RowReader {
    pub(super) fn open(path: &Path, delimiter: char) -> Result<Self, ToolError> {
        let delimiter = u8::try_from(delimiter)
            .ok()
            .filter(u8::is_ascii)
            .ok_or_else(|| ToolError::new("the delimiter is one ASCII character"))?;
        let file = File::open(path).map_err(|error| ToolError::io(path, &error))?;
        let budget = Rc::new(Cell::new(MAX_ROW));
        let limited = LimitedFile {
            file,
            budget: Rc::clone(&budget),
        };
        let mut builder = ReaderBuilder::new();
        builder.delimiter(delimiter).flexible(true);
        let mut reader = builder.from_reader(limited);
        let name = path.display().to_string();
        let header = reader
            .byte_headers()
            .map_err(|error| unreadable(&name, &error))?;
        let header = texts(header).map_err(|_| {
            ToolError::new(format!(
                "{name} is not in UTF-8: save it in UTF-8 and begin anew"
            ))
        })?;
        Ok(Self {
            reader,
            budget,
            header,
            name,
        })
    }

    /// Returns the next row.
    pub(super) fn next_row(&mut self) -> Result<Option<Row>, ToolError> {
        self.budget.set(MAX_ROW);
        let mut record = ByteRecord::new();
        let read = self.reader.read_byte_record(&mut record);
        if !read.map_err(|error| unreadable(&self.name, &error))? {
            return Ok(None);
        }
        let mut reason = None;
        let cells = texts(&record).unwrap_or_else(|replaced| {
            reason = Some("a cell is not in UTF-8".to_owned());
            replaced
        });
        if cells.len() != self.header.len() {
            let (found, expected) = (cells.len(), self.header.len());
            reason = Some(format!("the row has {found} cells instead of {expected}"));
        }
        Ok(Some(Row { cells, reason }))
    }
}

/// Returns the cells of a record, or with replaced characters those of a record that is not in UTF-8.
fn texts(record: &ByteRecord) -> Result<Vec<String>, Vec<String>> {
    let cells: Vec<_> = record.iter().map(String::from_utf8_lossy).collect();
    let is_text = record.iter().all(|cell| std::str::from_utf8(cell).is_ok());
    let cells = cells.into_iter().map(|cell| cell.into_owned()).collect();
    if is_text { Ok(cells) } else { Err(cells) }
}

fn unreadable(name: &str, error: &csv::Error) -> ToolError {
    ToolError::new(format!("{name} cannot be read: {error}"))
}
