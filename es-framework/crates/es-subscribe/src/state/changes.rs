//! The statements that change the tasks of a subscriber.

use es_event::Subject;
use es_sql::{Cell, Statement};

use super::{
    TaskChange,
    rows::{TASK_COLUMNS, event_cell, key_cells, task_cells, text_of, time_cell},
};

/// Adds a task. It waits if a failed one of its subject is there.
const PLAN: &str = "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, \
     CASE WHEN EXISTS (SELECT 1 FROM es_task f \
     WHERE f.subscriber = $1 AND f.subject = $7 AND f.reason IS NOT NULL) THEN 1 ELSE 0 END WHERE true \
     ON CONFLICT (subscriber, step, event, view_index, due) DO NOTHING";
const CANCEL: &str = "DELETE FROM es_task \
     WHERE subscriber = $1 AND subject = $2 AND step = $3 AND event < $4 AND due <> ''";
const BEGIN: &str = "UPDATE es_task SET attempts = attempts + 1 \
     WHERE subscriber = $1 AND step = $2 AND event = $3 AND view_index = $4 AND due = $5";
const FINISH: &str = "DELETE FROM es_task \
     WHERE subscriber = $1 AND step = $2 AND event = $3 AND view_index = $4 AND due = $5";
const FAIL: &str = "UPDATE es_task SET attempts = $1, reason = $2, retry_at = $3 \
     WHERE subscriber = $4 AND step = $5 AND event = $6 AND view_index = $7 AND due = $8";
/// Without a failed task, the other tasks of its subject wait no longer.
const UNBLOCK: &str = "UPDATE es_task SET is_blocked = 0 \
     WHERE subscriber = $1 AND subject = $2 AND is_blocked = 1 AND NOT EXISTS (SELECT 1 FROM es_task f \
     WHERE f.subscriber = $1 AND f.subject = $2 AND f.reason IS NOT NULL)";
const BLOCK: &str = "UPDATE es_task SET is_blocked = CASE WHEN reason IS NULL THEN 1 ELSE 0 END \
     WHERE subscriber = $1 AND subject = $2 AND EXISTS (SELECT 1 FROM es_task f \
     WHERE f.subscriber = $1 AND f.subject = $2 AND f.reason IS NOT NULL)";

const END: &str = "UPDATE es_subscriber SET is_lost = 2 WHERE name = $1";
pub(super) const DELETE_ALL: &str = "DELETE FROM es_task WHERE subscriber = $1";

/// The statements of some changes. Changes of one kind that follow each other have their statements in common.
pub(super) struct ChangeStatements {
    subscriber: Cell,
    groups: Vec<StatementGroup>,
}

/// Statements that run one after the other, each for all of its rows of parameters.
type StatementGroup = Vec<(String, Vec<Vec<Cell>>)>;

impl ChangeStatements {
    pub(super) fn new(subscriber: &str) -> Self {
        Self {
            subscriber: subscriber.into(),
            groups: Vec::new(),
        }
    }

    pub(super) fn push_change(&mut self, change: &TaskChange) {
        match change {
            TaskChange::Plan(task) => {
                let insert =
                    format!("INSERT INTO es_task (subscriber, {TASK_COLUMNS}, is_blocked) {PLAN}");
                self.push_statement(&insert, task_cells(task));
            }
            TaskChange::Cancel {
                step,
                subject,
                before,
            } => {
                let cells = [
                    subject.as_str().into(),
                    (&**step).into(),
                    event_cell(*before),
                ];
                self.push_group([
                    (CANCEL, self.row(cells)),
                    self.for_subject(UNBLOCK, subject),
                ]);
            }
            TaskChange::End => self.push_group([END, DELETE_ALL].map(|sql| (sql, self.row([])))),
            TaskChange::Begin(key) => self.push_statement(BEGIN, key_cells(key)),
            TaskChange::Finish { key, subject } => {
                let finish = (FINISH, self.row(key_cells(key)));
                self.push_group([finish, self.for_subject(UNBLOCK, subject)]);
            }
            TaskChange::Fail {
                key,
                subject,
                attempts,
                failure,
            } => {
                let failed = [
                    Cell::Integer((*attempts).into()),
                    text_of(&failure.reason).into(),
                    failure.retry_at.map_or(Cell::Null, time_cell),
                ];
                let row = failed.into_iter().chain(self.row(key_cells(key)));
                let fail = (FAIL, row.collect());
                self.push_group([fail, self.for_subject(BLOCK, subject)]);
            }
        }
    }

    /// Adds a statement that runs with the subscriber and these cells.
    pub(super) fn push_statement(&mut self, sql: &str, cells: impl IntoIterator<Item = Cell>) {
        self.push_group([(sql, self.row(cells))]);
    }

    fn row(&self, cells: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
        let subscriber = [self.subscriber.clone()];
        subscriber.into_iter().chain(cells).collect()
    }

    fn for_subject<'a>(&self, sql: &'a str, subject: &Subject) -> (&'a str, Vec<Cell>) {
        (sql, self.row([subject.as_str().into()]))
    }

    fn push_group<const N: usize>(&mut self, group: [(&str, Vec<Cell>); N]) {
        let statements = || group.iter().map(|(sql, _)| *sql);
        if let Some(last) = self.groups.last_mut()
            && last.iter().map(|(sql, _)| sql.as_str()).eq(statements())
        {
            for ((_, rows), (_, row)) in last.iter_mut().zip(group) {
                rows.push(row);
            }
            return;
        }
        let first_rows = group
            .into_iter()
            .map(|(sql, row)| (sql.to_owned(), vec![row]));
        self.groups.push(first_rows.collect());
    }

    pub(super) fn into_statements(self) -> Vec<Statement> {
        let statements = self.groups.into_iter().flatten();
        statements
            .map(|(sql, rows)| Statement::for_rows(sql, rows))
            .collect()
    }
}
