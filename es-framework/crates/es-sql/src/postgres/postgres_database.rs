//! A database on a PostgreSQL server: one connection writes and holds the lock that grants the right to write. A pool of
//! connections reads.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::{
    super::{
        Cell, DatabaseError, DatabaseUse, FetchedRows, QueryCost, Statement,
        statement::Parameters,
        transaction::{TransactionEnd, WRITE_TIMEOUT},
    },
    connections::{Connections, within},
    parameters::{query_with_arrays, query_with_cells, read_cells},
};

/// A database on a PostgreSQL server.
#[doc(hidden)]
#[derive(Debug)]
pub struct PostgresDatabase {
    connections: Connections,
}

impl PostgresDatabase {
    /// Connects to the server that accepts writes. It ends each query that runs longer than `query_time`.
    pub(crate) async fn open(
        url: &str,
        query_time: Duration,
        database_use: DatabaseUse,
    ) -> Result<Self, DatabaseError> {
        Ok(Self {
            connections: Connections::open(url, query_time, database_use).await?,
        })
    }

    /// Returns the rows that a query selects, up to a size. The rest of the rows is not read into memory: the connection
    /// discards it.
    pub(crate) async fn query(
        &self,
        cost: QueryCost,
        sql: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> Result<FetchedRows<Vec<Cell>>, DatabaseError> {
        let readers = self.connections.readers(cost);
        let mut rows = query_with_cells(sql, parameters).fetch(&readers);
        let mut fetched = FetchedRows::new(most_bytes);
        loop {
            match rows.try_next().await {
                Ok(Some(row)) if fetched.push(read_cells(&row)?) => {}
                Ok(_) => return Ok(fetched),
                Err(error) => return Err(self.connections.diagnose_reader_error(error).await),
            }
        }
    }

    pub(crate) async fn try_become_writer(&self) -> Result<bool, DatabaseError> {
        self.connections.try_acquire_lock().await
    }

    pub(crate) async fn end_session(&self) {
        self.connections.close_writer().await;
    }

    pub(crate) async fn read(&self, statement: Statement) -> Result<Vec<Vec<Cell>>, DatabaseError> {
        let mut connection = self.connections.writer().await?;
        let read = async { Ok(select_rows(&mut connection, statement).await?) };
        let result = within(WRITE_TIMEOUT, read).await;
        drop(connection);
        self.connections.close_ended_session(result).await
    }

    pub(crate) async fn run(
        &self,
        statements: Vec<Statement>,
        end: TransactionEnd,
        limit: Duration,
    ) -> Result<(), DatabaseError> {
        let mut connection = self.connections.writer().await?;
        let result = within(limit, run_transaction(&mut connection, statements, end)).await;
        drop(connection);
        self.connections.close_ended_session(result).await
    }

    pub(crate) async fn find_refusals<I: PartialEq + Send>(
        &self,
        groups: Vec<(I, Vec<Statement>)>,
    ) -> Result<Vec<(usize, DatabaseError)>, DatabaseError> {
        let mut connection = self.connections.writer().await?;
        let result = find_refusals(&mut connection, groups).await;
        drop(connection);
        self.connections.close_ended_session(result).await
    }
}

async fn run_transaction(
    connection: &mut PgConnection,
    statements: Vec<Statement>,
    end: TransactionEnd,
) -> Result<(), DatabaseError> {
    let mut transaction = connection.begin().await?;
    for statement in statements {
        run_statement(&mut transaction, statement).await?;
    }
    match end {
        TransactionEnd::Commit => transaction.commit().await?,
        TransactionEnd::Rollback => transaction.rollback().await?,
    }
    Ok(())
}

async fn find_refusals<I: PartialEq + Send>(
    connection: &mut PgConnection,
    groups: Vec<(I, Vec<Statement>)>,
) -> Result<Vec<(usize, DatabaseError)>, DatabaseError> {
    let mut transaction = connection.begin().await?;
    let (mut refused_ids, mut refusals) = (Vec::new(), Vec::new());
    for (index, (id, statements)) in groups.into_iter().enumerate() {
        if refused_ids.contains(&id) {
            continue;
        }
        // Within a transaction, this begins a savepoint.
        let savepoint = run_transaction(&mut transaction, statements, TransactionEnd::Commit);
        match within(WRITE_TIMEOUT, savepoint).await {
            Err(error) if error.is_refusal() => {
                refused_ids.push(id);
                refusals.push((index, error));
            }
            result => result?,
        }
    }
    transaction.rollback().await?;
    Ok(refusals)
}

async fn run_statement(
    connection: &mut PgConnection,
    Statement { sql, parameters }: Statement,
) -> Result<(), DatabaseError> {
    match parameters {
        Parameters::None => {
            let statement = sqlx::raw_sql(AssertSqlSafe(sql));
            statement.execute(connection).await?;
        }
        Parameters::Rows(rows) => {
            for row in rows {
                let query = query_with_cells(sql.clone(), row);
                query.execute(&mut *connection).await?;
            }
        }
        Parameters::Arrays(arrays) => {
            let query = query_with_arrays(sql, arrays);
            query.execute(connection).await?;
        }
    }
    Ok(())
}

/// Returns the rows that a statement selects.
pub(super) async fn select_rows(
    connection: &mut PgConnection,
    Statement { sql, parameters }: Statement,
) -> Result<Vec<Vec<Cell>>, sqlx::Error> {
    let queries = match parameters {
        Parameters::None => vec![query_with_cells(sql, Vec::new())],
        Parameters::Rows(rows) => {
            let queries = rows
                .into_iter()
                .map(|row| query_with_cells(sql.clone(), row));
            queries.collect()
        }
        Parameters::Arrays(arrays) => vec![query_with_arrays(sql, arrays)],
    };
    let mut selected = Vec::new();
    for query in queries {
        for row in query.fetch_all(&mut *connection).await? {
            selected.push(read_cells(&row)?);
        }
    }
    Ok(selected)
}
