//! The file with the rows that were refused, and the reason for each.

use std::{
    fs::{self, File},
    path::PathBuf,
};

use csv::Writer;

use crate::error::ToolError;

/// The name of the last column.
const REASON: &str = "Reason";

/// The refused rows so far. The file has its name when the import has ended; until then, `.part` is behind it.
pub(super) struct RefusedRows {
    path: PathBuf,
    header: Vec<String>,
    writer: Option<Writer<File>>,
    pub(super) count: u64,
}

impl RefusedRows {
    pub(super) fn new(path: PathBuf, header: &[String]) -> Result<Self, ToolError> {
        if path.exists() {
            let path = path.display();
            return Err(ToolError::new(format!(
                "{path} exists: import it, move it away, or name another file with --refused"
            )));
        }
        Ok(Self {
            path,
            header: header.to_vec(),
            writer: None,
            count: 0,
        })
    }

    /// Adds a row with the same columns as in the imported file, and a reason. A file of refused rows that is imported has
    /// the column already.
    pub(super) fn add(&mut self, cells: &[String], reason: &str) -> Result<(), ToolError> {
        let columns = match self.header.split_last() {
            Some((last, columns)) if last == REASON => columns,
            _ => &self.header,
        };
        let row = cells.iter().take(columns.len()).map(String::as_str);
        let missing = columns.len().saturating_sub(cells.len());
        let row = row.chain(std::iter::repeat_n("", missing)).chain([reason]);
        let part = self.path.with_added_extension("part");
        let write = || {
            if self.writer.is_none() {
                let mut writer = Writer::from_path(&part)?;
                let header = columns.iter().map(String::as_str).chain([REASON]);
                writer.write_record(header)?;
                self.writer = Some(writer);
            }
            self.writer
                .as_mut()
                .map_or(Ok(()), |writer| writer.write_record(row))
        };
        write().map_err(|error| {
            let path = part.display();
            ToolError::new(format!("{path} cannot be written: {error}"))
        })?;
        self.count += 1;
        Ok(())
    }

    /// Gives the file its name. Returns it if a row was refused.
    pub(super) fn finish(self) -> Result<Option<PathBuf>, ToolError> {
        let Some(mut writer) = self.writer else {
            return Ok(None);
        };
        let part = self.path.with_added_extension("part");
        let finished = writer.flush().and_then(|()| fs::rename(part, &self.path));
        finished.map_err(|error| ToolError::io(&self.path, &error))?;
        Ok(Some(self.path))
    }
}
