//! SQLite, in memory or in a file: one connection writes, and a small pool reads.

mod blocking;
mod cells;
mod lease;
mod readers;
mod sqlite_connection;
mod write_connection;

use std::time::Duration;

use rusqlite::{Connection, params_from_iter};

use self::{
    cells::read_cells, readers::SqliteReaders, sqlite_connection::truncate_log,
    write_connection::SqliteWriter,
};
use super::{
    Cell, DatabaseError, FetchedRows, QueryCost, Statement, statement::Parameters,
    transaction::TransactionEnd,
};

pub(crate) use readers::SCANS;
pub(crate) use sqlite_connection::{Durability, SqliteLocation};

/// A SQLite database.
#[doc(hidden)]
#[derive(Debug)]
pub struct SqliteDatabase {
    readers: SqliteReaders,
    writer: SqliteWriter,
}

impl SqliteDatabase {
    /// Opens the database, and interrupts each query that runs longer than `query_time`.
    pub(crate) async fn open(
        location: SqliteLocation,
        durability: Durability,
        query_time: Duration,
    ) -> Result<Self, DatabaseError> {
        Ok(Self {
            writer: SqliteWriter::open(location.clone(), durability).await?,
            readers: SqliteReaders::new(location, query_time),
        })
    }

    pub(crate) async fn query(
        &self,
        cost: QueryCost,
        sql: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> Result<FetchedRows<Vec<Cell>>, DatabaseError> {
        let query = move |connection: &Connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query(params_from_iter(parameters))?;
            let mut fetched = FetchedRows::new(most_bytes);
            while let Some(row) = rows.next()?
                && fetched.push(read_cells(row, columns)?)
            {}
            Ok(fetched)
        };
        self.readers.run_query(cost, query).await
    }

    pub(crate) async fn try_become_writer(&self) -> Result<bool, DatabaseError> {
        self.writer.try_acquire_lease().await
    }

    pub(crate) async fn release_lease(&self) {
        self.writer.release_lease().await;
    }

    pub(crate) async fn read(&self, statement: Statement) -> Result<Vec<Vec<Cell>>, DatabaseError> {
        let read = move |connection: &mut Connection| {
            let mut selected = Vec::new();
            run_statement(connection, statement, |row| selected.push(row))?;
            Ok(selected)
        };
        self.writer.run_on_connection(read).await
    }

    /// Runs statements in one transaction, and returns the rows that they select.
    pub(crate) async fn run(
        &self,
        statements: Vec<Statement>,
        end: TransactionEnd,
    ) -> Result<Vec<Vec<Cell>>, DatabaseError> {
        let run = move |connection: &mut Connection| {
            // Dropping it undoes what was done until a failure.
            let transaction = connection.transaction()?;
            let mut selected = Vec::new();
            for statement in statements {
                run_statement(&transaction, statement, |row| selected.push(row))?;
            }
            match end {
                TransactionEnd::Commit => transaction.commit()?,
                TransactionEnd::Rollback => transaction.rollback()?,
            }
            Ok(selected)
        };
        self.writer.run_on_connection(run).await
    }

    pub(crate) async fn find_refusals<I: PartialEq + Send + 'static>(
        &self,
        groups: Vec<(I, Vec<Statement>)>,
    ) -> Result<Vec<(usize, DatabaseError)>, DatabaseError> {
        let find = move |connection: &mut Connection| {
            let mut transaction = connection.transaction()?;
            let (mut refused_ids, mut refusals) = (Vec::new(), Vec::new());
            for (index, (id, statements)) in groups.into_iter().enumerate() {
                if refused_ids.contains(&id) {
                    continue;
                }
                let savepoint = transaction.savepoint()?;
                let mut statements = statements.into_iter();
                match statements.try_for_each(|one| run_statement(&savepoint, one, drop)) {
                    Ok(()) => savepoint.commit()?,
                    Err(error) if error.is_refusal() => {
                        refused_ids.push(id);
                        refusals.push((index, error));
                    }
                    Err(error) => return Err(error),
                }
            }
            transaction.rollback()?;
            Ok(refusals)
        };
        self.writer.run_on_connection(find).await
    }

    pub(crate) async fn scrub(&self) -> Result<(), DatabaseError> {
        let truncate = |connection: &mut Connection| Ok(truncate_log(connection)?);
        self.writer.run_on_connection(truncate).await
    }
}

/// Runs a statement, and hands over each row that it selects.
fn run_statement(
    connection: &Connection,
    statement: Statement,
    mut select: impl FnMut(Vec<Cell>),
) -> Result<(), DatabaseError> {
    let mut run = |statement: &mut rusqlite::Statement<'_>, parameters: Vec<Cell>| {
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            select(read_cells(row, columns)?);
        }
        Ok::<_, rusqlite::Error>(())
    };
    match statement.parameters {
        Parameters::None => run(&mut connection.prepare(&statement.sql)?, Vec::new())?,
        // A cached statement does not notice that a table has changed before it runs.
        Parameters::Rows(rows) if rows.is_empty() => drop(connection.prepare(&statement.sql)?),
        Parameters::Rows(rows) => {
            let mut prepared = connection.prepare_cached(&statement.sql)?;
            for row in rows {
                run(&mut prepared, row)?;
            }
        }
        Parameters::Arrays(_) => return Err(rusqlite::Error::InvalidQuery.into()),
    }
    Ok(())
}
