//! The conversion of tasks from and to rows.

use std::{str::FromStr, vec};

use es_event::{EventId, Subject};
use es_sql::Cell;
use jiff::Timestamp;

use super::{StateError, Task, TaskFailure, TaskKey};

/// The columns of a task, in the order in which [`RowReader::task`] and [`task_cells`] have them.
pub(super) const TASK_COLUMNS: &str = "step, event, view_index, due, step_order, subject, event_type, event_time, attempts, reason, retry_at";

/// Reads the cells of a row one after the other.
pub(super) struct RowReader {
    table: &'static str,
    cells: vec::IntoIter<Cell>,
}

impl RowReader {
    pub(super) fn new(table: &'static str, row: Vec<Cell>) -> Self {
        Self {
            table,
            cells: row.into_iter(),
        }
    }

    fn defect(&self, reason: impl ToString) -> StateError {
        StateError::Row {
            table: self.table,
            reason: reason.to_string(),
        }
    }

    pub(super) fn integer(&mut self) -> Result<i64, StateError> {
        let number = self.optional_integer()?;
        number.ok_or_else(|| self.defect("a number is missing"))
    }

    pub(super) fn optional_integer(&mut self) -> Result<Option<i64>, StateError> {
        match self.cells.next() {
            Some(Cell::Integer(number)) => Ok(Some(number)),
            Some(Cell::Null) => Ok(None),
            _ => Err(self.defect("a number is missing")),
        }
    }

    /// Reads a number that is not negative.
    pub(super) fn count<T: TryFrom<i64>>(&mut self) -> Result<T, StateError> {
        let number = self.integer()?;
        T::try_from(number).map_err(|_| self.defect(format!("{number} is out of range")))
    }

    fn event(&mut self) -> Result<EventId, StateError> {
        let event = self.optional_event()?;
        event.ok_or_else(|| self.defect("an event id is missing"))
    }

    pub(super) fn optional_event(&mut self) -> Result<Option<EventId>, StateError> {
        let Some(number) = self.optional_integer()? else {
            return Ok(None);
        };
        let event = u64::try_from(number).ok().and_then(EventId::new);
        let event = event.ok_or_else(|| self.defect(format!("{number} is no event id")))?;
        Ok(Some(event))
    }

    pub(super) fn text(&mut self) -> Result<String, StateError> {
        let text = self.optional_text()?;
        text.ok_or_else(|| self.defect("a text is missing"))
    }

    pub(super) fn optional_text(&mut self) -> Result<Option<String>, StateError> {
        match self.cells.next() {
            Some(Cell::Text(text)) => Ok(Some(text)),
            Some(Cell::Null) => Ok(None),
            _ => Err(self.defect("a text is missing")),
        }
    }

    pub(super) fn parsed<T: FromStr<Err: ToString>>(&mut self) -> Result<T, StateError> {
        let text = self.text()?;
        text.parse()
            .map_err(|error: T::Err| self.defect(error.to_string()))
    }

    fn subject(&mut self) -> Result<Subject, StateError> {
        let text = self.text()?;
        Subject::parse_recorded(&text).map_err(|error| self.defect(error))
    }

    /// Reads a time. An empty text is none.
    pub(super) fn optional_time(&mut self) -> Result<Option<Timestamp>, StateError> {
        let text = self.optional_text()?.filter(|text| !text.is_empty());
        text.map(|text| text.parse().map_err(|error| self.defect(error)))
            .transpose()
    }

    /// Reads the columns of a task.
    pub(super) fn task(&mut self) -> Result<Task, StateError> {
        let key = TaskKey {
            step: self.text()?.into(),
            event: self.event()?,
            view: self.count()?,
            due: self.optional_time()?,
        };
        let (order, subject, event_type) = (self.count()?, self.subject()?, self.parsed()?);
        let (event_time, attempts) = (self.parsed()?, self.count()?);
        let (reason, retry_at) = (self.optional_text()?, self.optional_time()?);
        let failure = reason.map(|reason| TaskFailure { reason, retry_at });
        Ok(Task {
            key,
            order,
            subject,
            event_type,
            event_time,
            attempts,
            failure,
        })
    }
}

/// Returns the cells of a key: its step, event, view and time.
pub(super) fn key_cells(key: &TaskKey) -> [Cell; 4] {
    [
        Cell::from(&*key.step),
        event_cell(key.event),
        Cell::Integer(key.view.into()),
        due_cell(key.due),
    ]
}

/// Returns the cells of the columns of a task.
pub(super) fn task_cells(task: &Task) -> impl Iterator<Item = Cell> {
    let failure = task.failure.as_ref();
    let rest = [
        Cell::Integer(task.order.into()),
        task.subject.as_str().into(),
        task.event_type.as_str().into(),
        time_cell(task.event_time),
        Cell::Integer(task.attempts.into()),
        failure.map(|failure| text_of(&failure.reason)).into(),
        failure
            .and_then(|failure| failure.retry_at)
            .map_or(Cell::Null, time_cell),
    ];
    key_cells(&task.key).into_iter().chain(rest)
}

pub(super) fn event_cell(event: EventId) -> Cell {
    Cell::Integer(event.get().cast_signed())
}

/// Returns the cell of a due time. A task without one has the least text of all, so it is before all deadlines.
pub(super) fn due_cell(due: Option<Timestamp>) -> Cell {
    due.map_or_else(|| Cell::from(""), time_cell)
}

/// Returns a time as text with nine digits of a second. All such texts have one width, and so the order of the times.
pub(super) fn time_cell(time: Timestamp) -> Cell {
    Cell::Text(format!("{time:.9}"))
}

/// Returns a text without the NUL character, which no text of PostgreSQL contains.
pub(super) fn text_of(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
