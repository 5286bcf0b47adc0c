//! The queries for the tasks of a subscriber, and the attempts that operators ask for.

use std::time::Duration;

use es_event::Subject;
use es_sql::{Cell, Statement};
use jiff::Timestamp;

use super::{
    StateDatabase, StateError, Task,
    rows::{RowReader, TASK_COLUMNS, due_cell, time_cell},
};
use crate::{HeldKey, OpenDeadlines};

/// The tasks to execute: a failed one whose time has come, and the first one of each other subject.
const DUE: &str = "FROM es_task t WHERE subscriber = $1 AND is_blocked = 0 AND due <= $2 \
     AND (reason IS NULL OR retry_at <= $3 OR retry_at > $4) \
     AND (reason IS NOT NULL OR NOT EXISTS (SELECT 1 FROM es_task o \
     WHERE o.subscriber = t.subscriber AND o.subject = t.subject \
     AND (o.due, o.event, o.step_order, o.step, o.view_index) \
     < (t.due, t.event, t.step_order, t.step, t.view_index))) \
     ORDER BY due, event, step_order, step, view_index LIMIT $5";
const NEXT_TIME: &str = "SELECT \
     (SELECT min(due) FROM es_task WHERE subscriber = $1 AND is_blocked = 0 AND due > '' AND reason IS NULL), \
     (SELECT min(retry_at) FROM es_task WHERE subscriber = $1 AND reason IS NOT NULL)";
const DEADLINES: &str = "SELECT count(*), min(due) FROM es_task \
     WHERE subscriber = $1 AND is_blocked = 0 AND due > '' AND reason IS NULL";
const READY: &str =
    "SELECT count(*) FROM es_task WHERE subscriber = $1 AND is_blocked = 0 AND due = ''";
/// The failed tasks, and the events with which their subjects wait: those of immediate tasks, which have no time.
const HELD: &str = "count(DISTINCT w.event), max(w.event_time) \
     FROM es_task t JOIN es_task w ON w.subscriber = t.subscriber AND w.subject = t.subject \
     AND (w.due = '' OR w.reason IS NOT NULL) WHERE t.subscriber = $1 AND t.reason IS NOT NULL GROUP BY";

impl StateDatabase {
    /// Returns the tasks to execute now, at most one of each subject: those that are due and wait for no other one. Deadlines
    /// are due until a time, which may be earlier than now. A time for the next attempt is that of a wrong clock if it is further
    /// away than two of the longest pauses.
    ///
    /// # Errors
    /// The database does not answer, or this process does not own it.
    pub async fn due_tasks(
        &self,
        subscriber: &str,
        (now, longest_pause): (Timestamp, Duration),
        deadlines_until: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<Task>, StateError> {
        let parameters = [
            subscriber.into(),
            due_cell(deadlines_until),
            time_cell(now),
            time_cell(furthest_retry(now, longest_pause)),
            Cell::Integer(i64::try_from(limit).unwrap_or(i64::MAX)),
        ];
        let sql = format!("SELECT {TASK_COLUMNS} {DUE}");
        let rows = self.read(Statement::new(sql, parameters)).await?;
        let tasks = rows.into_iter();
        tasks
            .map(|row| RowReader::new("es_task", row).task())
            .collect()
    }

    async fn select_tasks(
        &self,
        sql: String,
        parameters: impl Into<Vec<Cell>>,
    ) -> Result<Vec<Task>, StateError> {
        let rows = self.select(sql, parameters.into()).await?;
        let tasks = rows.into_iter();
        tasks
            .map(|row| RowReader::new("es_task", row).task())
            .collect()
    }

    /// Reads one row of a query that selects numbers and times.
    async fn select_row(
        &self,
        sql: &str,
        parameters: impl Into<Vec<Cell>>,
    ) -> Result<Option<RowReader>, StateError> {
        let rows = self.select(sql.to_owned(), parameters.into()).await?;
        let row = rows.into_iter().next();
        Ok(row.map(|row| RowReader::new("es_task", row)))
    }

    /// Returns the next time at which there is something to do: a task is due, or a failed one is tried again. An attempt at
    /// the time of a wrong clock is due now.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn next_time(
        &self,
        subscriber: &str,
        now: Timestamp,
        longest_pause: Duration,
    ) -> Result<Option<Timestamp>, StateError> {
        let row = self.select_row(NEXT_TIME, [subscriber.into()]).await?;
        let Some(mut row) = row else {
            return Ok(None);
        };
        let (deadline, retry) = (row.optional_time()?, row.optional_time()?);
        let furthest = furthest_retry(now, longest_pause);
        let attempt = retry.map(|retry| if retry > furthest { now } else { retry });
        Ok(deadline.into_iter().chain(attempt).min())
    }

    /// Returns the tasks with a due time that have not failed and wait for no failed one.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn open_deadlines(&self, subscriber: &str) -> Result<OpenDeadlines, StateError> {
        let row = self.select_row(DEADLINES, [subscriber.into()]).await?;
        let Some(mut row) = row else {
            return Ok(OpenDeadlines::default());
        };
        let (count, next) = (row.count()?, row.optional_time()?);
        Ok(OpenDeadlines { count, next })
    }

    /// Returns the number of tasks without a due time that wait for no failed one.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn count_ready(&self, subscriber: &str) -> Result<u64, StateError> {
        let row = self.select_row(READY, [subscriber.into()]).await?;
        row.map_or(Ok(0), |mut row| row.count())
    }

    /// Returns the first task of a step that is due at a time, as each time of a schedule is.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn first_deadline(
        &self,
        subscriber: &str,
        step: &str,
    ) -> Result<Option<Task>, StateError> {
        let sql = format!(
            "SELECT {TASK_COLUMNS} FROM es_task \
             WHERE subscriber = $1 AND step = $2 AND due > '' ORDER BY due, event LIMIT 1"
        );
        let parameters = [subscriber.into(), step.into()];
        let tasks = self.select_tasks(sql, parameters).await?;
        Ok(tasks.into_iter().next())
    }

    /// Returns the failed tasks, each of which holds its subject.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn failed_tasks(&self, subscriber: &str) -> Result<Vec<Task>, StateError> {
        let sql = format!(
            "SELECT {TASK_COLUMNS} FROM es_task WHERE subscriber = $1 AND reason IS NOT NULL ORDER BY event"
        );
        self.select_tasks(sql, [subscriber.into()]).await
    }

    /// Returns the held subjects, as operators see them.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn held_subjects(&self, subscriber: &str) -> Result<Vec<HeldKey>, StateError> {
        let columns = TASK_COLUMNS.split(", ").map(|column| format!("t.{column}"));
        let columns: Vec<_> = columns.collect();
        let columns = columns.join(", ");
        let sql = format!("SELECT {columns}, {HELD} {columns}");
        let rows = self.select(sql, vec![subscriber.into()]).await?;
        let held = rows.into_iter().map(|row| {
            let mut row = RowReader::new("es_task", row);
            let task = row.task()?;
            let (events, last) = (row.count()?, row.optional_time()?);
            Ok(task.to_held_key().map(|key| HeldKey {
                events,
                last: last.unwrap_or(task.event_time),
                ..key
            }))
        });
        held.filter_map(Result::transpose).collect()
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

/// Returns the time behind which the next attempt counts as due: no pause is that long.
fn furthest_retry(now: Timestamp, longest_pause: Duration) -> Timestamp {
    let furthest = now.saturating_add(longest_pause.saturating_mul(2));
    furthest.unwrap_or(Timestamp::MAX)
}
