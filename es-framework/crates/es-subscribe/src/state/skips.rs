//! The events that operators have skipped, and the attempts that they ask for.

use es_event::{EventSelection, Subject};
use es_sql::{Cell, Statement};
use jiff::Timestamp;

use super::{
    StateDatabase, StateError,
    rows::{RowReader, text_of, time_cell},
};

impl StateDatabase {
    /// Returns the selections of events that a subscriber skips.
    ///
    /// # Errors
    /// The database does not answer, or this process does not own it.
    pub async fn skips(&self, subscriber: &str) -> Result<Vec<EventSelection>, StateError> {
        let select = "SELECT selection FROM es_skip WHERE subscriber = $1 ORDER BY selection";
        let rows = self.select(select.into(), vec![subscriber.into()]).await?;
        let selections = rows.into_iter().map(|row| {
            let text = RowReader::new("es_skip", row).text()?;
            serde_json::from_str(&text).map_err(|error| StateError::Row {
                table: "es_skip",
                reason: error.to_string(),
            })
        });
        selections.collect()
    }

    /// Skips events from now on.
    ///
    /// # Errors
    /// The database does not answer, or this process does not own it.
    pub async fn add_skip(
        &self,
        subscriber: &str,
        selection: &EventSelection,
    ) -> Result<(), StateError> {
        let insert = "INSERT INTO es_skip (subscriber, selection) VALUES ($1, $2) \
             ON CONFLICT (subscriber, selection) DO NOTHING";
        let parameters = [subscriber.into(), selection_cell(selection)];
        self.write(vec![Statement::new(insert, parameters)]).await
    }

    /// Ends the skips of the selected events. Returns false if none of them was skipped.
    ///
    /// # Errors
    /// The database does not answer, or this process does not own it.
    pub async fn end_skips(
        &self,
        subscriber: &str,
        selection: &EventSelection,
    ) -> Result<bool, StateError> {
        let skips = self.skips(subscriber).await?;
        let ended = skips.iter().filter(|skip| selection.covers_all_of(skip));
        let rows: Vec<_> = ended
            .map(|skip| vec![subscriber.into(), selection_cell(skip)])
            .collect();
        if rows.is_empty() {
            return Ok(false);
        }
        let delete = "DELETE FROM es_skip WHERE subscriber = $1 AND selection = $2";
        self.write(vec![Statement::for_rows(delete, rows)]).await?;
        Ok(true)
    }

    /// Lets failed tasks be tried again from this time on: those of some subjects, or all.
    ///
    /// # Errors
    /// The database does not answer, or this process does not own it.
    pub async fn retry_failed(
        &self,
        subscriber: &str,
        subjects: Option<&[Subject]>,
        now: Timestamp,
    ) -> Result<(), StateError> {
        const RETRY: &str =
            "UPDATE es_task SET retry_at = $1 WHERE subscriber = $2 AND reason IS NOT NULL";
        let all: [Cell; 2] = [time_cell(now), subscriber.into()];
        let statement = match subjects {
            None => Statement::new(RETRY, all),
            Some(subjects) => {
                let rows = subjects.iter().map(|subject| {
                    let subject = Cell::from(subject.as_str());
                    all.iter().cloned().chain([subject]).collect()
                });
                Statement::for_rows(format!("{RETRY} AND subject = $3"), rows.collect())
            }
        };
        self.write(vec![statement]).await
    }
}

fn selection_cell(selection: &EventSelection) -> Cell {
    // A selection is made of numbers and texts, which always are JSON.
    Cell::Text(text_of(
        &serde_json::to_string(selection).unwrap_or_default(),
    ))
}
