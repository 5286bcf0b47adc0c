//! What the writer does after a failure: find out what is true, and whether writing works again.

use super::Writer;
use crate::store::{
    StoreError,
    sqlite::{error::DiskError, merge::Merge, schema, state},
};

impl Writer {
    /// After a failure only the disk knows what is true.
    pub(super) fn refresh(&mut self) -> Result<(), DiskError> {
        if !self.is_stale {
            return Ok(());
        }
        self.roll_back();
        self.reopen()?;
        let (head, tail) = state::load(&self.connection, &self.settings)?;
        let catalogue = state::catalogue(&self.connection)?;
        let length = tail.length();
        self.shared.change_catalogue(|known| *known = catalogue);
        (self.head, self.merge) = (head, Merge::default());
        self.shared.change(|shared| *shared = tail);
        self.length.send_replace(length);
        self.is_stale = false;
        Ok(())
    }

    fn reopen(&mut self) -> Result<(), DiskError> {
        #[cfg(test)]
        let pages: u32 = self
            .connection
            .pragma_query_value(None, "max_page_count", |row| row.get(0))?;
        self.connection = schema::open_writer(&self.shared.file, &self.settings)
            .map_err(|error| DiskError::Unopened(error.to_string()))?;
        #[cfg(test)]
        self.connection
            .pragma_update(None, "max_page_count", pages)?;
        Ok(())
    }

    /// Whether writing works: known after a success, tried after a failure.
    pub(super) fn probe(&mut self) -> Result<(), StoreError> {
        if !self.shared.has_failed() {
            return Ok(());
        }
        let tried = self.refresh().and_then(|()| self.write_scratch());
        tried.map_err(|error| error.at(&self.shared.file))?;
        self.shared.set_failure(None);
        Ok(())
    }

    /// Takes as much room as a batch may want and gives it back.
    fn write_scratch(&self) -> Result<(), DiskError> {
        let written = self.connection.execute_batch(
            "BEGIN IMMEDIATE;
             CREATE TABLE IF NOT EXISTS scratch (body BLOB);
             INSERT INTO scratch VALUES (zeroblob(65536));
             COMMIT;
             DROP TABLE scratch;",
        );
        written.inspect_err(|_| self.roll_back())?;
        Ok(())
    }
}
